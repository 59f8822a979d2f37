import { Square } from 'lucide-react';
import { routeTo } from '../frame/route.ts';
import type { JobEntry } from '../jobs/job-entries.ts';
import { JobStatus } from '../jobs/job-status.tsx';
import { useStop } from '../jobs/use-stop.ts';
import { Button } from '../ui/button.tsx';
import { agoWords, durationWords, exactTime } from '../ui/time-words.ts';
import { useNow } from '../ui/use-now.ts';

/** What runs on a host, with a way to end it, and what ran there lately. Each leads to its output. */
export function HostJobs({ jobs, workspaceId }: { jobs: JobEntry[]; workspaceId: string }) {
  const now = useNow(1000);
  const running = jobs.filter((job) => job.running !== undefined);
  const ended = jobs.filter((job) => job.running === undefined);
  return (
    <>
      {running.length > 0 && (
        <section aria-label="Running">
          <h3 className="mb-2 font-semibold">Running</h3>
          <ul className={listClasses}>
            {running.map((job) => (
              <RunningJob key={job.jobId} job={job} now={now} workspaceId={workspaceId} />
            ))}
          </ul>
        </section>
      )}
      {ended.length > 0 && (
        <section aria-label="Recent commands">
          <h3 className="mb-2 font-semibold">Recent commands</h3>
          <ul className={listClasses}>
            {ended.slice(0, maxShown).map((job) => (
              <li key={job.jobId} className={rowClasses}>
                <JobLink job={job} />
                <JobStatus entry={job} />
                <span className={timeClasses} title={exactTime(job.startedAt)}>
                  {agoWords(job.startedAt, now)}
                </span>
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

const maxShown = 10;
const listClasses = 'divide-y divide-line rounded-lg border border-line';
const rowClasses = 'flex min-h-10 items-center gap-3 px-3 py-1.5';
const timeClasses = 'w-[88px] shrink-0 text-right text-xs whitespace-nowrap text-faint tabular-nums';

function RunningJob({ job, now, workspaceId }: { job: JobEntry; now: number; workspaceId: string }) {
  const { stopping, stop } = useStop(job.jobId, workspaceId);
  return (
    <li className={rowClasses}>
      <JobLink job={job} />
      <JobStatus entry={job} />
      <span className={timeClasses}>{durationWords(now - Date.parse(job.startedAt))}</span>
      <Button small disabled={stopping} onClick={stop} aria-label={`Stop ${job.cmd}`}>
        <Square className="size-3 fill-current text-danger" aria-hidden />
        {stopping ? 'Stopping…' : 'Stop'}
      </Button>
    </li>
  );
}

function JobLink({ job }: { job: JobEntry }) {
  return (
    <a
      href={routeTo('jobs', job.jobId, job.host === undefined ? {} : { host: job.host })}
      title={job.cmd}
      className="min-w-0 flex-1 truncate rounded-sm font-mono text-xs underline-offset-2 hover:underline"
    >
      {job.cmd.trim().split('\n')[0]}
    </a>
  );
}
