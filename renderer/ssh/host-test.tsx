import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import { CircleAlert, CircleCheck, PlugZap } from 'lucide-react';
import type { SshTest } from '../../daemon/contract/ssh.ts';
import { problemText } from '../api/problem.ts';
import { queries } from '../api/queries.ts';
import { usePanel } from '../panel-context.ts';
import { Button } from '../ui/button.tsx';
import { CopyIcon } from '../ui/copy-button.tsx';
import { agoWords, durationWords } from '../ui/time-words.ts';
import { useNow } from '../ui/use-now.ts';
import { hostKeyProblem } from './host-key-problem.ts';
import { keyTypeWords } from './host-words.ts';

type Test = UseQueryResult<SshTest>;

/** The last test of a host, and what starts another. A host key in the way is asked about; the test goes on after. */
export function useTest(host: string): [Test, () => void] {
  const { api, hostKeys } = usePanel();
  const test = useQuery(queries.sshTest(api, host));
  const start = () =>
    void test.refetch().then(({ error }) => {
      const key = hostKeyProblem(error);
      if (key !== undefined) hostKeys.ask({ ...key, goOn: start });
    });
  return [test, start];
}

export function TestButton({ test, onTest }: { test: Test; onTest: () => void }) {
  return (
    <Button small disabled={test.isFetching} onClick={onTest}>
      <PlugZap className="size-3.5" aria-hidden />
      {test.isFetching ? 'Connecting…' : 'Test connection'}
    </Button>
  );
}

/** How the last test went. Nothing before the first. */
export function TestResult({ test, onTest }: { test: Test; onTest: () => void }) {
  const now = useNow(30_000);
  if (test.isFetching) return null;
  if (test.error !== null) return <TestFailure error={test.error} onTest={onTest} />;
  if (test.data === undefined) return null;
  const { connected_ms, server, key_type, fingerprint } = test.data;
  return (
    <div role="status" className="mt-2 flex gap-2.5 rounded-md bg-success-soft px-3 py-2">
      <CircleCheck className="mt-0.5 size-4 shrink-0 text-success-text" aria-hidden />
      <div className="min-w-0 flex-1">
        <p className="flex flex-wrap gap-x-3">
          <span className="font-medium text-success-text tabular-nums">
            Connected in {durationWords(connected_ms)}
          </span>
          <span className="min-w-0 truncate text-muted">{server}</span>
          <span className="ml-auto text-xs leading-5 text-muted">
            {agoWords(new Date(test.dataUpdatedAt).toISOString(), now)}
          </span>
        </p>
        <p className="flex min-w-0 items-center gap-2 text-xs text-muted">
          {keyTypeWords(key_type)}
          <code className="min-w-0 truncate font-mono select-text" title={fingerprint}>
            {fingerprint}
          </code>
          <span className="-my-1">
            <CopyIcon text={fingerprint} label="Copy fingerprint" />
          </span>
        </p>
      </div>
    </div>
  );
}

function TestFailure({ error, onTest }: { error: Error; onTest: () => void }) {
  const { hostKeys } = usePanel();
  const key = hostKeyProblem(error);
  return (
    <div
      role="alert"
      className="mt-2 flex items-start gap-2.5 rounded-md bg-danger-soft px-3 py-2 text-danger-text"
    >
      <CircleAlert className="mt-0.5 size-4 shrink-0" aria-hidden />
      <p className="min-w-0 flex-1 wrap-anywhere select-text">{problemText(error)}</p>
      {key !== undefined && (
        <Button small className="-my-0.5" onClick={() => hostKeys.ask({ ...key, goOn: onTest })}>
          {key.kind === 'unknown' ? 'Look at the key' : 'What to do'}
        </Button>
      )}
    </div>
  );
}
