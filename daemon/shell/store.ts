import { closeSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { JobId, WorkspaceId } from '../contract/ids.ts';
import { maxRecentCommands, RecentCommand } from '../contract/shell.ts';
import { asStorageError, StorageFullError } from '../lib/durable-errors.ts';
import { type DurableJson, openDurableJson } from '../lib/durable-json.ts';

const Recents = z.object({ version: z.literal(1), commands: z.array(RecentCommand).max(maxRecentCommands) });
export type Recents = z.infer<typeof Recents>;

/** The last commands of a workspace, in `<data>/workspaces/<slug>/recent.json`. */
export function openRecents(
  folder: string,
  options: { readonly onSetAside: (message: string) => void; readonly onFatal: (error: Error) => void },
): Promise<DurableJson<Recents>> {
  return openDurableJson<Recents>({
    path: join(folder, 'recent.json'),
    parse: (raw) => Recents.parse(raw),
    initial: () => ({ version: 1, commands: [] }),
    onSetAside: ({ movedTo, reason }) =>
      options.onSetAside(
        `The list of recent commands could not be read (${reason}); it was kept as ${movedTo}.`,
      ),
    // Nothing durable may stand before a command's first byte; half a second later it is on disk.
    flushAfterMs: 500,
    onFatal: options.onFatal,
  });
}

const JobRecord = z.object({
  job_id: JobId,
  ws_id: WorkspaceId.optional(),
  main: z.object({ pid: z.int(), startTime: z.string(), startOrder: z.number() }).optional(),
});
export type JobRecord = z.infer<typeof JobRecord>;

const JournalLine = z.union([
  JobRecord.extend({ ended: z.literal(false) }),
  z.object({ job_id: JobId, ended: z.literal(true) }),
]);

/** The journal is emptied when it is longer than this and no job is under way. */
const maxJournalBytes = 256 * 1024;

/**
 * The jobs under way, in `<data>/jobs.jsonl`, so that the next daemon ends what a crashed one left running: a line when a
 * job starts, another when its process is known, one when it has ended. Not fsynced: a power loss that could lose a line
 * ends the processes too.
 */
export class RunningJobs implements Disposable {
  readonly #path: string;
  readonly #descriptor: number;
  readonly #running = new Set<JobId>();
  #bytes = 0;
  #isTorn = false;

  constructor(dataDir: string) {
    this.#path = join(dataDir, 'jobs.jsonl');
    this.#descriptor = openSync(this.#path, 'a', 0o600);
  }

  write(record: JobRecord): void {
    this.#running.add(record.job_id);
    this.#append({ ...record, ended: false });
  }

  remove(jobId: JobId): void {
    this.#running.delete(jobId);
    this.#append({ job_id: jobId, ended: true });
    if (this.#running.size === 0 && this.#bytes > maxJournalBytes) this.#empty();
  }

  /** What an earlier daemon left behind. Called before this one starts a job. */
  list(): JobRecord[] {
    const records = new Map<JobId, JobRecord>();
    for (const line of readFileSync(this.#path, 'utf8').split('\n')) {
      const parsed = JournalLine.safeParse(parseOrNothing(line));
      // The last line may have been cut short: its job had no process yet, or one that an earlier line names.
      if (!parsed.success) continue;
      if (parsed.data.ended) records.delete(parsed.data.job_id);
      else records.set(parsed.data.job_id, parsed.data);
    }
    return [...records.values()];
  }

  /** The jobs that `list` told have been dealt with. */
  forgetEarlier(): void {
    this.#empty();
  }

  [Symbol.dispose](): void {
    closeSync(this.#descriptor);
  }

  #append(line: z.input<typeof JournalLine>): void {
    // The first line feed ends a line that an earlier write, on a full disk, could not finish.
    const bytes = Buffer.from(`${this.#isTorn ? '\n' : ''}${JSON.stringify(line)}\n`);
    try {
      const written = writeSync(this.#descriptor, bytes);
      this.#bytes += written;
      this.#isTorn = written < bytes.length;
    } catch (error) {
      throw asStorageError(error, this.#path);
    }
    if (this.#isTorn) throw new StorageFullError(this.#path);
  }

  #empty(): void {
    ftruncateSync(this.#descriptor);
    this.#bytes = 0;
  }
}

function parseOrNothing(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Half a line, or the empty one after the last: the caller passes over it.
    return undefined;
  }
}
