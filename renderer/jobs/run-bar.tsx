import { Play, Settings2 } from 'lucide-react';
import { type FormEvent, type KeyboardEvent, useEffect, useRef, useState } from 'react';
import type { RunRequest } from '../../daemon/contract/shell.ts';
import { ApiProblem, problemText } from '../api/problem.ts';
import { runFieldId } from '../frame/use-shortcuts.ts';
import { Button, IconButton } from '../ui/button.tsx';
import { CheckBox } from '../ui/check-box.tsx';
import { inputClasses } from '../ui/field.tsx';
import { needsSecrets, needsSecretsWords } from './needs-secrets.ts';
import { useRunCommand } from './use-run-command.ts';

type RunBarProps = { history: string[]; workspaceName: string; focus: boolean };

/** Runs a command: Enter starts it, the arrow keys bring back earlier ones, newest first in `history`. */
export function RunBar({ history, workspaceName, focus }: RunBarProps) {
  const field = useRef<HTMLInputElement>(null);
  const [cmd, setCmd] = useState('');
  const [cwd, setCwd] = useState('');
  const [timeout, setTimeout] = useState('');
  const [withSecrets, setWithSecrets] = useState(true);
  const [showOptions, setShowOptions] = useState(false);
  const [place, setPlace] = useState(-1);
  const run = useRunCommand({ quiet: true });
  const timeoutMistake = timeoutProblem(timeout);
  const mistake = timeoutMistake ?? (run.error === null ? undefined : runProblemText(run.error));

  useEffect(() => {
    if (focus) field.current?.focus();
  }, [focus]);

  function submit(event?: FormEvent, secrets = withSecrets) {
    event?.preventDefault();
    if (cmd.trim() === '' || timeoutMistake !== undefined) return;
    const request: RunRequest = {
      cmd,
      ...(cwd.trim() === '' ? {} : { cwd: cwd.trim() }),
      ...(timeout.trim() === '' ? {} : { timeout: Number(timeout) }),
      ...(secrets ? {} : { secrets: [] }),
    };
    run.mutate(request, {
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
        <label htmlFor={runFieldId} className="sr-only">
          Command to run in {workspaceName}
        </label>
        <div className="relative min-w-0 flex-1">
          <span aria-hidden className="pointer-events-none absolute top-1.5 left-2.5 font-mono text-faint">
            $
          </span>
          <input
            ref={field}
            id={runFieldId}
            className={`${inputClasses} pl-6! font-mono text-xs!`}
            placeholder={`Run a command in ${workspaceName}`}
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
          label="Folder, timeout and secrets"
          aria-expanded={showOptions}
          aria-pressed={showOptions}
          onClick={() => setShowOptions(!showOptions)}
        >
          <Settings2 />
        </IconButton>
        <Button type="submit" variant="primary" disabled={cmd.trim() === '' || run.isPending}>
          <Play className="size-3.5" aria-hidden />
          Run
        </Button>
      </div>
      {showOptions && (
        <div className="mt-2 flex flex-wrap items-center gap-x-5 gap-y-2">
          <Option
            label="In folder"
            width="w-56!"
            placeholder="the workspace’s root"
            value={cwd}
            onChange={setCwd}
          />
          <Option
            label="Timeout"
            width="w-20!"
            placeholder="300"
            value={timeout}
            onChange={setTimeout}
            unit="seconds"
            invalid={timeoutMistake !== undefined}
          />
          <label
            htmlFor={secretsFieldId}
            className="flex h-7 items-center gap-2 text-xs whitespace-nowrap text-muted"
          >
            <CheckBox
              id={secretsFieldId}
              label="With the workspace’s secrets"
              checked={withSecrets}
              onChange={() => setWithSecrets(!withSecrets)}
            />
            With secrets
          </label>
        </div>
      )}
      {mistake !== undefined && (
        <p role="alert" className="mt-2 text-xs text-danger-text">
          {mistake}
          {needsSecrets(run.error) && (
            <Button small className="ml-3" onClick={() => submit(undefined, false)}>
              Run without secrets
            </Button>
          )}
        </p>
      )}
    </form>
  );
}

const secretsFieldId = 'run-with-secrets';

type OptionProps = {
  label: string;
  width: string;
  placeholder: string;
  value: string;
  onChange: (value: string) => void;
  unit?: string;
  invalid?: boolean;
};

function Option({ label, width, placeholder, value, onChange, unit, invalid = false }: OptionProps) {
  return (
    <label className="flex items-center gap-2 text-xs whitespace-nowrap text-muted">
      {label}
      <input
        className={`${inputClasses} h-7! ${width} font-mono text-xs!`}
        aria-invalid={invalid}
        placeholder={placeholder}
        spellCheck={false}
        autoComplete="off"
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
      {unit}
    </label>
  );
}

function timeoutProblem(timeout: string): string | undefined {
  if (timeout.trim() === '') return undefined;
  const seconds = Number(timeout);
  return Number.isInteger(seconds) && seconds >= 1 && seconds <= 300
    ? undefined
    : 'The timeout is a whole number of seconds from 1 to 300.';
}

function runProblemText(error: Error): string {
  if (!(error instanceof ApiProblem)) return problemText(error);
  if (error.code === 'folder_not_found') return 'There is no such folder in this workspace.';
  if (error.code === 'path_outside_workspace') return 'The folder has to be inside the workspace.';
  if (needsSecrets(error)) return needsSecretsWords;
  return problemText(error);
}
