import type { JobId, WorkspaceId } from '../contract/ids.ts';
import { maxRecentCommands, type RecentCommand } from '../contract/shell.ts';
import { timestamp } from '../lib/clock.ts';
import type { DurableJson } from '../lib/durable-json.ts';
import type { Job, JobResult } from './job.ts';
import type { Recents } from './store.ts';

export type OpenWorkspaceRecents = (wsId: WorkspaceId) => Promise<DurableJson<Recents>>;

/** The last 50 commands of every workspace, newest first. */
export class RecentCommands implements AsyncDisposable {
  readonly #open: OpenWorkspaceRecents;
  readonly #opened = new Map<WorkspaceId, Promise<DurableJson<Recents>>>();

  constructor(open: OpenWorkspaceRecents) {
    this.#open = open;
  }

  async list(wsId: WorkspaceId): Promise<readonly RecentCommand[]> {
    return (await this.#recents(wsId)).value.commands;
  }

  /** Notes a command that has started. */
  async add(job: Job): Promise<void> {
    const { job_id, ws_id, cmd, host, cwd, started_at, origin, key_id } = job.listing;
    const entry: RecentCommand = {
      cmd,
      ...(host === undefined ? {} : { host }),
      cwd,
      started_at,
      finished_at: null,
      code: null,
      job_id,
      origin,
      key_id,
      reason: null,
    };
    const recents = await this.#recents(ws_id);
    recents.updateLazily(({ version, commands }) => ({
      version,
      commands: [entry, ...commands].slice(0, maxRecentCommands),
    }));
  }

  /** Notes how a command ended, and answers its entry. */
  async finish(job: Job, { code, reason }: JobResult, nowMs: number): Promise<RecentCommand> {
    const { job_id, ws_id, cmd, host, cwd, started_at, origin, key_id } = job.listing;
    const finished: RecentCommand = {
      cmd,
      ...(host === undefined ? {} : { host }),
      cwd,
      started_at,
      finished_at: timestamp(nowMs),
      code,
      job_id,
      origin,
      key_id,
      reason,
    };
    const recents = await this.#recents(ws_id);
    recents.updateLazily(({ version, commands }) => ({
      version,
      commands: commands.map((entry) => (entry.job_id === job_id ? finished : entry)),
    }));
    return finished;
  }

  /** Marks commands that an earlier daemon did not see to their end. */
  async closeOrphans(wsId: WorkspaceId, jobIds: ReadonlySet<JobId>, nowMs: number): Promise<void> {
    const recents = await this.#recents(wsId);
    const finished_at = timestamp(nowMs);
    recents.updateLazily(({ version, commands }) => ({
      version,
      commands: commands.map((entry) =>
        jobIds.has(entry.job_id) && entry.finished_at === null ? { ...entry, finished_at } : entry,
      ),
    }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const opened = await Promise.all(this.#opened.values());
    await Promise.all(opened.map((recents) => recents[Symbol.asyncDispose]()));
  }

  #recents(wsId: WorkspaceId): Promise<DurableJson<Recents>> {
    let recents = this.#opened.get(wsId);
    if (recents === undefined) {
      recents = this.#open(wsId);
      // A folder that could not be read once may be readable the next time.
      recents.catch(() => this.#opened.delete(wsId));
      this.#opened.set(wsId, recents);
    }
    return recents;
  }
}
