import type { JobId, WorkspaceId } from '../contract/ids.ts';
import type { Logger } from '../lib/logger.ts';
import { terminateTree } from './kill-tree.ts';
import type { RecentCommands } from './recent-commands.ts';
import type { JobRecord, RunningJobs } from './store.ts';

export interface SweepOptions {
  readonly runningJobs: RunningJobs;
  readonly recents: RecentCommands;
  readonly nowMs: number;
  readonly logger: Logger;
}

/** Ends what a daemon that crashed left running; nothing reads its output any more. Answers how many jobs there were. */
export async function sweepOrphans({ runningJobs, recents, nowMs, logger }: SweepOptions): Promise<number> {
  const records = runningJobs.list();
  await Promise.all(records.map((record) => endOrphan(record, logger)));
  for (const [wsId, ofWorkspace] of Map.groupBy(records, (record) => record.ws_id)) {
    if (wsId !== undefined) await closeInRecents(recents, wsId, ofWorkspace, nowMs, logger);
  }
  runningJobs.forgetEarlier();
  return records.length;
}

async function endOrphan({ job_id, main }: JobRecord, logger: Logger): Promise<void> {
  logger.warn({ jobId: job_id, pid: main?.pid }, 'ending a job of a daemon that crashed');
  // Its output is lost and its client gone: there is nothing to wait for.
  await terminateTree({ jobId: job_id, main }, { graceMs: 500 });
}

async function closeInRecents(
  recents: RecentCommands,
  wsId: WorkspaceId,
  records: readonly JobRecord[],
  nowMs: number,
  logger: Logger,
): Promise<void> {
  try {
    await recents.closeOrphans(wsId, new Set<JobId>(records.map((record) => record.job_id)), nowMs);
  } catch (error) {
    // The workspace may be gone from the state; its processes are ended all the same.
    logger.warn({ err: error, wsId }, 'recent commands not updated');
  }
}
