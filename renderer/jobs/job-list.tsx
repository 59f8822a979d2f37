import { Server } from 'lucide-react';
import type { KeyboardEvent } from 'react';
import type { JobOrigin } from '../../daemon/contract/shell.ts';
import { classNames } from '../ui/class-names.ts';
import { agoWords, durationWords, exactTime } from '../ui/time-words.ts';
import { useNow } from '../ui/use-now.ts';
import type { JobEntry } from './job-entries.ts';
import { JobStatus } from './job-status.tsx';

type JobListProps = { entries: JobEntry[]; selected: string | undefined; onSelect: (jobId: string) => void };

/** Running commands, then what ran before. Arrow keys move through it. */
export function JobList({ entries, selected, onSelect }: JobListProps) {
  const now = useNow(1000);
  const running = entries.filter((entry) => entry.running !== undefined);
  const ended = entries.filter((entry) => entry.running === undefined);

  function onKeyDown(event: KeyboardEvent<HTMLElement>) {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step === 0) return;
    event.preventDefault();
    const buttons = [...event.currentTarget.querySelectorAll('button')];
    const at = buttons.findIndex((button) => button.contains(document.activeElement));
    const next = buttons[Math.max(0, Math.min(buttons.length - 1, at + step))];
    next?.focus();
    next?.click();
  }

  return (
    <nav aria-label="Jobs" onKeyDown={onKeyDown} className="h-full overflow-y-auto p-2">
      {running.length > 0 && <Heading>Running</Heading>}
      {running.map((entry) => (
        <JobItem
          key={entry.jobId}
          entry={entry}
          now={now}
          selected={entry.jobId === selected}
          onSelect={onSelect}
        />
      ))}
      {ended.length > 0 && <Heading>Recent</Heading>}
      {ended.map((entry) => (
        <JobItem
          key={entry.jobId}
          entry={entry}
          now={now}
          selected={entry.jobId === selected}
          onSelect={onSelect}
        />
      ))}
    </nav>
  );
}

function Heading({ children }: { children: string }) {
  return <h2 className="px-2.5 pt-2 pb-1 text-xs font-medium text-faint first:pt-0.5">{children}</h2>;
}

type JobItemProps = { entry: JobEntry; now: number; selected: boolean; onSelect: (jobId: string) => void };

function JobItem({ entry, now, selected, onSelect }: JobItemProps) {
  const started = Date.parse(entry.startedAt);
  const finished = entry.finishedAt === null ? undefined : Date.parse(entry.finishedAt);
  const until = finished ?? (entry.running === undefined ? undefined : now);
  return (
    <button
      type="button"
      aria-current={selected ? 'true' : undefined}
      onClick={() => onSelect(entry.jobId)}
      className={classNames(
        'mb-px block w-full rounded-md px-2.5 py-2 text-left',
        selected ? 'bg-selected' : 'hover:bg-hover',
      )}
    >
      <span className="block truncate font-mono text-xs" title={entry.cmd}>
        {firstLine(entry.cmd)}
      </span>
      <span className="mt-1.5 flex items-center gap-2 text-xs text-faint tabular-nums">
        <JobStatus entry={entry} />
        {entry.host !== undefined && (
          <span className="flex min-w-0 items-center gap-1" title={`on ${entry.host}`}>
            <Server className="size-3 shrink-0" aria-label="on" />
            <span className="truncate">{entry.host}</span>
          </span>
        )}
        {until !== undefined && <span className="whitespace-nowrap">{durationWords(until - started)}</span>}
        {entry.running === undefined && entry.host === undefined && (
          <span className="max-[1039px]:hidden">{originWords[entry.origin]}</span>
        )}
        <span
          className={classNames(
            'text-right',
            entry.host === undefined ? 'min-w-0 flex-1 truncate' : 'ml-auto shrink-0 max-[1039px]:hidden',
          )}
          title={exactTime(entry.startedAt)}
        >
          {entry.running === undefined ? agoWords(entry.startedAt, now) : originWords[entry.origin]}
        </span>
      </span>
    </button>
  );
}

const originWords: Record<JobOrigin, string> = { api: 'API', panel: 'panel' };

function firstLine(cmd: string): string {
  const [first = '', ...rest] = cmd.trim().split('\n');
  return rest.length === 0 ? first : `${first} …`;
}
