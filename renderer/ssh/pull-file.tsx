import { useMutation } from '@tanstack/react-query';
import { CircleCheck, FileDown } from 'lucide-react';
import { type FormEvent, useId, useState } from 'react';
import type { RecentProject } from '../../daemon/contract/projects.ts';
import type { PulledFile } from '../../daemon/contract/ssh.ts';
import { problemText } from '../api/problem.ts';
import { routeTo } from '../frame/route.ts';
import { usePanel } from '../panel-context.ts';
import { Button } from '../ui/button.tsx';
import { inputClasses } from '../ui/field.tsx';
import { bytesWords } from '../ui/time-words.ts';
import { hostKeyProblem } from './host-key-problem.ts';

/** Copies a file of the host into the workspace. */
export function PullFile({ host, workspace }: { host: string; workspace: RecentProject }) {
  const id = useId();
  const [path, setPath] = useState('');
  const pull = usePull(host, workspace.ws_id);
  const failed = pull.error !== null;

  function submit(event: FormEvent) {
    event.preventDefault();
    if (path.trim() !== '' && !pull.isPending) pull.mutate(path);
  }

  return (
    <section aria-labelledby={`${id}-title`}>
      <h3 id={`${id}-title`} className="mb-2 font-semibold">
        Pull a file
      </h3>
      <form onSubmit={submit} noValidate className="flex items-center gap-2">
        <label htmlFor={id} className="sr-only">
          Path on {host}
        </label>
        <input
          id={id}
          className={`${inputClasses} font-mono text-xs!`}
          placeholder="/var/log/syslog"
          autoComplete="off"
          autoCapitalize="off"
          spellCheck={false}
          aria-invalid={failed}
          aria-describedby={`${id}-note`}
          value={path}
          onChange={(event) => {
            setPath(event.target.value);
            if (!pull.isPending) pull.reset();
          }}
        />
        <Button type="submit" disabled={path.trim() === '' || pull.isPending}>
          <FileDown className="size-4" aria-hidden />
          {pull.isPending ? 'Pulling…' : 'Pull'}
        </Button>
      </form>
      <div id={`${id}-note`} className="mt-1.5 text-xs text-faint">
        {failed ? (
          <p role="alert" className="wrap-anywhere text-danger-text">
            {problemText(pull.error)}
          </p>
        ) : (
          <p>
            Copied to <code className="font-mono">pulled/{host}/</code> in {workspace.name}, up to 50 MiB. A
            path without / at its start is in the home folder there.
          </p>
        )}
      </div>
      {pull.data !== undefined && <Pulled file={pull.data} />}
    </section>
  );
}

function Pulled({ file }: { file: PulledFile }) {
  return (
    <p
      role="status"
      className="mt-3 flex flex-wrap items-center gap-x-3 gap-y-1 rounded-md bg-success-soft px-3 py-2"
    >
      <CircleCheck className="size-4 shrink-0 text-success-text" aria-hidden />
      <code className="min-w-0 font-mono text-xs break-all select-text">{file.path}</code>
      <span className="text-xs text-muted tabular-nums">{bytesWords(file.size)}</span>
      <span className="ml-auto flex gap-3">
        {file.receipt_id === null && <span className="text-xs text-muted">Had this content already</span>}
        <a className={linkClasses} href={routeTo('files', file.path)}>
          Open file
        </a>
        {file.receipt_id !== null && (
          <a className={linkClasses} href={routeTo('receipts', file.receipt_id)}>
            Receipt
          </a>
        )}
      </span>
    </p>
  );
}

const linkClasses = 'text-accent underline-offset-2 hover:underline';

function usePull(host: string, workspaceId: string) {
  const { api, hostKeys } = usePanel();
  const pull = useMutation({
    mutationFn: (remotePath: string) =>
      api.json<PulledFile>('/api/shell/ssh-pull', {
        method: 'POST',
        workspaceId,
        body: { host, remote_path: remotePath },
      }),
    onError: (error, remotePath) => {
      const key = hostKeyProblem(error);
      if (key !== undefined) hostKeys.ask({ ...key, goOn: () => pull.mutate(remotePath) });
    },
  });
  return pull;
}
