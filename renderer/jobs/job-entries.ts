import type { EndReason, JobListing, JobOrigin, RecentCommand } from '../../daemon/contract/shell.ts';

/** One command in the list, running or over. */
export type JobEntry = {
  jobId: string;
  cmd: string;
  /** Where it runs, if that is another host. */
  host: string | undefined;
  cwd: string;
  startedAt: string;
  finishedAt: string | null;
  code: number | null;
  reason: EndReason | null;
  origin: JobOrigin;
  keyId: string | null;
  /** Set while it runs. */
  running: Pick<JobListing, 'pid' | 'timeout' | 'free_ports'> | undefined;
};

/**
 * Running jobs first, then what has ended, each newest first. A command has ended once its shell has, though the daemon
 * may list it for a moment longer, while it clears away what the command left behind.
 */
export function jobEntries(jobs: JobListing[], recent: RecentCommand[]): JobEntry[] {
  const ended = recent.filter((command) => command.finished_at !== null);
  const endedIds = new Set(ended.map((command) => command.job_id));
  const running = jobs.filter((job) => !endedIds.has(job.job_id));
  const runningIds = new Set(running.map((job) => job.job_id));
  return [
    ...running.map(runningEntry).sort(newestFirst),
    ...recent
      .filter((command) => !runningIds.has(command.job_id))
      .map(endedEntry)
      .sort(newestFirst),
  ];
}

/** Recent commands without repetition, newest first. */
export function distinctCommands(recent: RecentCommand[], atMost: number): RecentCommand[] {
  const seen = new Set<string>();
  return recent
    .filter(({ cmd, cwd, host = '' }) => {
      const key = `${host}\n${cwd}\n${cmd}`;
      return !seen.has(key) && seen.add(key) !== undefined;
    })
    .slice(0, atMost);
}

function runningEntry(job: JobListing): JobEntry {
  return {
    jobId: job.job_id,
    cmd: job.cmd,
    host: job.host,
    cwd: job.cwd,
    startedAt: job.started_at,
    finishedAt: null,
    code: null,
    reason: null,
    origin: job.origin,
    keyId: job.key_id,
    running: { pid: job.pid, timeout: job.timeout, free_ports: job.free_ports },
  };
}

function endedEntry(command: RecentCommand): JobEntry {
  return {
    jobId: command.job_id,
    cmd: command.cmd,
    host: command.host,
    cwd: command.cwd,
    startedAt: command.started_at,
    finishedAt: command.finished_at,
    code: command.code,
    reason: command.reason,
    origin: command.origin,
    keyId: command.key_id,
    running: undefined,
  };
}

function newestFirst(a: JobEntry, b: JobEntry): number {
  return b.startedAt.localeCompare(a.startedAt);
}
