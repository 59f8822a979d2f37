import { useQuery } from '@tanstack/react-query';
import { Ban, CircleAlert, CircleCheck, LoaderCircle } from 'lucide-react';
import type { SshHost } from '../../daemon/contract/ssh.ts';
import { queries } from '../api/queries.ts';
import { usePanel } from '../panel-context.ts';
import { Badge } from '../ui/badge.tsx';
import { classNames } from '../ui/class-names.ts';
import { addressWords, wayWords } from './host-words.ts';

type HostItemProps = {
  host: SshHost;
  /** "2 commands", or undefined where none runs. */
  running: string | undefined;
  selected: boolean;
  onSelect: (host: string) => void;
};

/** One host of the list: its name, where it is, how its last test went. */
export function HostItem({ host, running, selected, onSelect }: HostItemProps) {
  const way = wayWords(host);
  return (
    <button
      type="button"
      aria-current={selected ? 'true' : undefined}
      onClick={() => onSelect(host.host)}
      className={classNames(
        'mb-px block w-full rounded-md px-2.5 py-2 text-left',
        selected ? 'bg-selected' : 'hover:bg-hover',
      )}
    >
      <span className="flex items-center gap-2">
        <span className={classNames('min-w-0 truncate font-medium', !host.supported && 'text-faint')}>
          {host.host}
        </span>
        {host.supported ? (
          <TestMark host={host.host} />
        ) : (
          <Ban className="size-3.5 shrink-0 text-faint" aria-label="can’t be used" />
        )}
        {running !== undefined && (
          <span className="ml-auto">
            <Badge tone="accent">
              <LoaderCircle className="animate-spin" aria-hidden />
              {running}
            </Badge>
          </span>
        )}
      </span>
      <span className="mt-0.5 block truncate text-xs text-faint" title={addressWords(host)}>
        {addressWords(host)}
      </span>
      {way !== undefined && (
        <span className="block truncate text-xs text-faint" title={way}>
          {way}
        </span>
      )}
      {host.reason !== null && (
        <span className="mt-0.5 line-clamp-2 text-xs text-faint" title={host.reason}>
          {host.reason}
        </span>
      )}
    </button>
  );
}

function TestMark({ host }: { host: string }) {
  const { api } = usePanel();
  const test = useQuery(queries.sshTest(api, host));
  if (test.isFetching)
    return <LoaderCircle className="size-3.5 shrink-0 animate-spin text-muted" aria-label="connecting" />;
  if (test.error !== null)
    return <CircleAlert className="size-3.5 shrink-0 text-danger-text" aria-label="test failed" />;
  if (test.data === undefined) return null;
  return <CircleCheck className="size-3.5 shrink-0 text-success-text" aria-label="test passed" />;
}
