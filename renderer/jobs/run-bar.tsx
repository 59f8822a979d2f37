import { Play, Settings2 } from 'lucide-react';
import { type FormEvent, type KeyboardEvent, useEffect, useRef, useState } from 'react';
import type { RunRequest } from '../../daemon/contract/shell.ts';
import type { SshRunRequest } from '../../daemon/contract/ssh.ts';
import { ApiProblem, problemText } from '../api/problem.ts';
import { runFieldId } from '../frame/use-shortcuts.ts';
import { Button, IconButton } from '../ui/button.tsx';
import { inputClasses } from '../ui/field.tsx';
import { needsSecrets, needsSecretsWords } from './needs-secrets.ts';
import { type Options, RunOptions, timeoutProblem } from './run-options.tsx';
import { RunPlace } from './run-place.tsx';
import { useRunCommand } from './use-run-command.ts';

type RunBarProps = {
  history: string[];
  workspaceName: string;
  focus: boolean;
  /** Where commands run; undefined: here, in the workspace. */
  host: string | undefined;
  /** The hosts that there is a choice of, with `onHost`. */
  hosts?: string[];
  onHost?: (host: string | undefined) => void;
};

/** Runs a command: Enter starts it, the arrow keys bring back earlier ones, newest first in `history`. */
export function RunBar({ history, workspaceName, focus, host, hosts = [], onHost }: RunBarProps) {
  const field = useRef<HTMLInputElement>(null);
  const [cmd, setCmd] = useState('');
  const [options, setOptions] = useState<Options>(noOptions);
  const [showOptions, setShowOptions] = useState(false);
  const [place, setPlace] = useState(-1);
  const run = useRunCommand({ quiet: true, keepHost: true });
  const timeoutMistake = timeoutProblem(options.timeout);
  const mistake = timeoutMistake ?? (run.error === null ? undefined : runProblemText(run.error));
  const where = host === undefined ? `in ${workspaceName}` : `on ${host}`;
  const hasChoice = onHost !== undefined && (hosts.length > 0 || host !== undefined);

  useEffect(() => {
    if (focus) field.current?.focus();
  }, [focus]);

  function submit(event?: FormEvent, chosen = options) {
    event?.preventDefault();
    if (cmd.trim() === '' || timeoutMistake !== undefined || run.isPending) return;
    run.mutate(requestOf(cmd, host, chosen), {
      onSuccess: () => {
        setCmd('');
        setPlace(-1);
      },
    });
  }

  function onKeyDown(event: KeyboardEvent<HTMLInputElement>) {
    const step = event.key === 'ArrowUp' ? 1 : event.key === 'ArrowDown' ? -1 : 0;
    if (step === 0) return;
    event.preventDefault();
    const next = Math.max(-1, Math.min(history.length - 1, place + step));
    setPlace(next);
    setCmd(history[next] ?? '');
  }

  return (
    <form onSubmit={submit} className="border-b border-line px-4 py-3" noValidate>
      <div className="flex items-center gap-2">
        {hasChoice && (
          <RunPlace
            workspaceName={workspaceName}
            host={host}
            hosts={hosts}
            onHost={(next) => {
              onHost(next);
              setPlace(-1);
              run.reset();
            }}
          />
        )}
        <label htmlFor={runFieldId} className="sr-only">
          Command to run {where}
        </label>
        <div className="relative min-w-0 flex-1">
          <span aria-hidden className="pointer-events-none absolute top-1.5 left-2.5 font-mono text-faint">
            $
          </span>
          <input
            ref={field}
            id={runFieldId}
            className={`${inputClasses} pl-6! font-mono text-xs!`}
            placeholder={`Run a command ${where}`}
            autoComplete="off"
            autoCapitalize="off"
            spellCheck={false}
            aria-invalid={run.error !== null}
            value={cmd}
            onKeyDown={onKeyDown}
            onChange={(event) => {
              setCmd(event.target.value);
              run.reset();
            }}
          />
        </div>
        <IconButton
          label={host === undefined ? 'Folder, timeout and secrets' : 'Timeout and secrets'}
          aria-expanded={showOptions}
          aria-pressed={showOptions}
          onClick={() => setShowOptions(!showOptions)}
        >
          <Settings2 />
        </IconButton>
        <Button type="submit" variant="primary" disabled={cmd.trim() === '' || run.isPending}>
          <Play className="size-3.5" aria-hidden />
          {run.isPending && host !== undefined ? 'Connecting…' : 'Run'}
        </Button>
      </div>
      {showOptions && <RunOptions options={options} onChange={setOptions} remote={host !== undefined} />}
      {mistake !== undefined && (
        <p role="alert" className="mt-2 text-xs break-words text-danger-text">
          {mistake}
          {needsSecrets(run.error) && (
            <Button
              small
              className="ml-3"
              onClick={() => submit(undefined, { ...options, withSecrets: false, secrets: [] })}
            >
              Run without secrets
            </Button>
          )}
        </p>
      )}
    </form>
  );
}

const noOptions: Options = { cwd: '', timeout: '', withSecrets: true, secrets: [] };

/** Commands here get all secrets unless told otherwise, those on a host only the ones that are named. */
function requestOf(cmd: string, host: string | undefined, options: Options): RunRequest | SshRunRequest {
  const { cwd, timeout, withSecrets, secrets } = options;
  const limit = timeout.trim() === '' ? {} : { timeout: Number(timeout) };
  if (host !== undefined) return { cmd, host, ...limit, ...(secrets.length === 0 ? {} : { secrets }) };
  const folder = cwd.trim() === '' ? {} : { cwd: cwd.trim() };
  return { cmd, ...folder, ...limit, ...(withSecrets ? {} : { secrets: [] }) };
}

function runProblemText(error: Error): string {
  if (!(error instanceof ApiProblem)) return problemText(error);
  if (error.code === 'folder_not_found') return 'There is no such folder in this workspace.';
  if (error.code === 'path_outside_workspace') return 'The folder has to be inside the workspace.';
  if (needsSecrets(error)) return needsSecretsWords;
  return problemText(error);
}
