import { systemErrorCode } from './durable-errors.ts';
import { readProcess } from './process-table.ts';

/** What `daemon.lock` holds: who has the data folder, and where it listens once it does. */
export interface DataFolderHolder {
  readonly pid: number;
  /** As `processStartTime` answers it, so a reused pid is not taken for the holder. */
  readonly process_started_at: string;
  readonly url: string | null;
  readonly version: string | null;
}

/**
 * Whether the very process that wrote this still runs. Where the system won't tell when a process started,
 * one with that pid counts as the holder: a daemon too few is better than two on one folder.
 */
export function isAlive(holder: DataFolderHolder): boolean {
  const found = readProcess(holder.pid);
  if (!found) return isPidInUse(holder.pid);
  if (found.zombie) return false;
  return holder.process_started_at === '' || found.startTime === holder.process_started_at;
}

/** Whether there is a process with this pid, another user's included. */
export function isPidInUse(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return systemErrorCode(error) === 'EPERM';
  }
}

/** The bytes of a lock file. */
export const encodeHolder = (holder: DataFolderHolder) => `${JSON.stringify(holder)}\n`;

/** The holder that a lock file's bytes name; undefined where they name none. */
export function decodeHolder(bytes: Buffer): DataFolderHolder | undefined {
  let raw: unknown;
  try {
    raw = JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
  if (typeof raw !== 'object' || raw === null) return undefined;
  const { pid, process_started_at, url, version } = raw as Partial<Record<keyof DataFolderHolder, unknown>>;
  if (typeof pid !== 'number' || !Number.isInteger(pid) || pid <= 0) return undefined;
  if (typeof process_started_at !== 'string') return undefined;
  return { pid, process_started_at, url: textOrNull(url), version: textOrNull(version) };
}

/** Another daemon has the data folder. */
export class DataFolderHeldError extends Error {
  override readonly name = 'DataFolderHeldError';
  readonly code = 'data_folder_held';
  readonly pid: number;
  readonly url: string | undefined;
  readonly version: string | undefined;

  constructor(holder: DataFolderHolder) {
    const where = holder.url ? `, which listens on ${holder.url}` : '';
    super(`The data folder is in use by process ${holder.pid}${where}.`);
    this.pid = holder.pid;
    this.url = holder.url ?? undefined;
    this.version = holder.version ?? undefined;
  }
}

/** The lock file holds something else than a lock, so nobody can say whether a daemon runs. */
export class DataFolderLockBrokenError extends Error {
  override readonly name = 'DataFolderLockBrokenError';
  readonly code = 'data_folder_lock_broken';
  readonly path: string;

  constructor(path: string) {
    super(`${path} can't be read as a lock. If no Tallystick runs on this data folder, delete that file.`);
    this.path = path;
  }
}

const textOrNull = (value: unknown) => (typeof value === 'string' ? value : null);
