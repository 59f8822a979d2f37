import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { JobId, WorkspaceId } from '../contract/ids.ts';
import { maxRecentCommands, RecentCommand } from '../contract/shell.ts';
import { type DurableJson, openDurableJson } from '../lib/durable-json.ts';

const Recents = z.object({ version: z.literal(1), commands: z.array(RecentCommand).max(maxRecentCommands) });
export type Recents = z.infer<typeof Recents>;

/** The last commands of a workspace, in `<data>/workspaces/<slug>/recent.json`. */
export function openRecents(
  folder: string,
  options: { readonly onSetAside: (message: string) => void },
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
  });
}

const JobRecord = z.object({
  job_id: JobId,
  ws_id: WorkspaceId.optional(),
  main: z.object({ pid: z.int(), startTime: z.string(), startOrder: z.number() }).optional(),
});
export type JobRecord = z.infer<typeof JobRecord>;

/**
 * The jobs under way, a small file each in `<data>/jobs/`, so that the next daemon ends what a crashed one left running.
 * Not fsynced: a power loss that could lose the file ends the processes too.
 */
export class RunningJobs {
  readonly #folder: string;

  constructor(dataDir: string) {
    this.#folder = join(dataDir, 'jobs');
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
  }

  write(record: JobRecord): void {
    writeFileSync(this.#file(record.job_id), JSON.stringify(record), { mode: 0o600 });
  }

  remove(jobId: JobId): void {
    rmSync(this.#file(jobId), { force: true });
  }

  /** What an earlier daemon left behind. */
  list(): JobRecord[] {
    return readdirSync(this.#folder)
      .filter((name) => name.endsWith('.json'))
      .map((name) => this.#read(name))
      .filter((record) => record !== undefined);
  }

  /** A file that was cut short by the crash still names its job: the cookie is enough to find the processes. */
  #read(name: string): JobRecord | undefined {
    const jobId = JobId.safeParse(name.slice(0, -'.json'.length));
    if (!jobId.success) return undefined;
    const parsed = JobRecord.safeParse(parseOrNothing(readFileSync(join(this.#folder, name), 'utf8')));
    return parsed.success ? parsed.data : { job_id: jobId.data };
  }

  #file(jobId: JobId): string {
    return join(this.#folder, `${jobId}.json`);
  }
}

function parseOrNothing(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Half a file: the caller goes by its name alone.
    return undefined;
  }
}
