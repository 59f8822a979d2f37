import { EyeOff } from 'lucide-react';
import type { LogSnapshot } from '../log/log-client.ts';
import type { LogExit } from '../log/log-protocol.ts';
import { classNames } from '../ui/class-names.ts';
import { countWords, durationWords } from '../ui/time-words.ts';
import { useNow } from '../ui/use-now.ts';
import type { JobEntry } from './job-entries.ts';
import { ReceiptOfJob } from './receipt-of-job.tsx';

type JobFooterProps = { entry: JobEntry; log: LogSnapshot; stopping: boolean; workspaceId: string };

/** How the command ended, or how its output is coming in. */
export function JobFooter({ entry, log, stopping, workspaceId }: JobFooterProps) {
  const exit = log.state.phase === 'ended' ? log.state.exit : undefined;
  return (
    <footer className="flex h-8 shrink-0 items-center gap-3 border-t border-line px-4 text-xs text-muted">
      <p role="status" className={classNames('min-w-0 flex-1 truncate', exit !== undefined && toneOf(exit))}>
        {exit === undefined ? stateWords(log, stopping) : exitWords(exit)}
        <Elapsed entry={entry} ended={exit !== undefined} />
      </p>
      {exit !== undefined && exit.masked > 0 && <Masked count={exit.masked} />}
      {exit !== undefined && <ReceiptOfJob exit={exit} workspaceId={workspaceId} />}
      <span className="tabular-nums">
        {countWords(log.lines, 'line')}
        {log.missing > 0 && `, ${log.missing.toLocaleString('en')} not kept`}
      </span>
    </footer>
  );
}

/** So that nobody takes `***` in the output for what the command printed. */
function Masked({ count }: { count: number }) {
  return (
    <span
      title="*** stands for the value of a secret"
      className="flex items-center gap-1.5 whitespace-nowrap tabular-nums"
    >
      <EyeOff className="size-3.5" aria-hidden />
      {countWords(count, 'value')} masked
    </span>
  );
}

function Elapsed({ entry, ended }: { entry: JobEntry; ended: boolean }) {
  const now = useNow(1000);
  const until =
    entry.finishedAt === null
      ? entry.running === undefined
        ? undefined
        : now
      : Date.parse(entry.finishedAt);
  if (until === undefined) return null;
  const words = durationWords(until - Date.parse(entry.startedAt));
  return <span className="tabular-nums">{ended ? ` after ${words}` : ` · ${words}`}</span>;
}

function stateWords(log: LogSnapshot, stopping: boolean): string {
  const { state } = log;
  switch (state.phase) {
    case 'connecting':
      return 'Fetching the output…';
    case 'streaming':
      return stopping ? 'Stopping…' : 'Running';
    case 'retrying':
      return 'Lost the output, taking it up again…';
    case 'gone':
      return log.end > 0 ? 'The rest of the output is no longer kept' : 'Output no longer kept';
    case 'signed-out':
      return 'Signed out';
    case 'failed':
      return state.detail;
    case 'ended':
      return '';
    default:
      return state satisfies never;
  }
}

function exitWords({ code, signal, reason }: LogExit): string {
  const by = signal === null ? '' : ` (${signal})`;
  switch (reason) {
    case 'cancelled':
      return `Stopped${by}, exit code ${code}`;
    case 'timeout':
      return `Timed out${by}, exit code ${code}`;
    case 'revoked':
      return `Ended because its key was revoked${by}, exit code ${code}`;
    case 'shutdown':
      return `Ended because the daemon shut down${by}, exit code ${code}`;
    case 'connection_lost':
      return `The connection to the host was lost${by}. How the command ended there is not known`;
    case null:
      return signal === null ? `Exited with code ${code}` : `Ended by ${signal}, exit code ${code}`;
    default:
      return reason satisfies never;
  }
}

function toneOf({ code, reason }: LogExit): string {
  if (reason === 'connection_lost') return 'text-danger-text';
  if (reason !== null) return 'text-muted';
  return code === 0 ? 'text-success-text' : 'text-danger-text';
}
