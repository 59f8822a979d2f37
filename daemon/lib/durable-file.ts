import { randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { asStorageError, isOutOfRoom, StorageFailedError, systemErrorCode } from './durable-errors.ts';
import type { DurableFs, DurableHandle } from './durable-fs.ts';
import { systemFs } from './durable-fs.ts';

export interface WriteDurablyOptions {
  /** Permission bits of the finished file, whatever the umask; 0600 if not given. */
  mode?: number;
  fs?: DurableFs;
  platform?: NodeJS.Platform;
}

/**
 * Replaces the file at `path`, or makes it, whole or not at all.
 *
 * Guarantee: from the moment the promise resolves, the new content survives SIGKILL and power loss. At every
 * moment before that, a reader and a crash find the old file or the new one in whole, never a mixture.
 *
 * Fails with `StorageFullError` (no room) or `StorageFailedError`; see there for what may follow. On a failure
 * before the rename the old file is untouched and the temporary file is removed; one that a crash leaves
 * behind is removed by `removeStaleTempFiles`. A symbolic link at `path` is replaced, not followed. `data` must
 * not be changed until the promise settles. Writes to one path are the caller's to put in order.
 */
export async function writeDurably(
  path: string,
  data: string | Uint8Array,
  options: WriteDurablyOptions = {},
): Promise<void> {
  const { mode = 0o600, fs = systemFs, platform = process.platform } = options;
  const bytes = typeof data === 'string' ? Buffer.from(data, 'utf8') : data;
  // The folder is opened first: once the rename is done, running out of file handles can't keep it unsynced.
  const folder = await openFolder(path, fs, platform);
  try {
    const temp = join(dirname(path), tempName());
    try {
      await writeTempFile(temp, bytes, mode, fs);
      await renameIntoPlace(temp, path, fs, platform);
    } catch (error) {
      await removeQuietly(temp, fs);
      throw error;
    }
    await syncFolder(folder);
  } catch (error) {
    throw failureOf(error, path);
  } finally {
    if (folder) await closeQuietly(folder);
  }
}

/**
 * Makes a change of names in the folder of `path` (a rename, a removal) survive power loss. Does nothing on
 * Windows, where a folder can't be synced. Fails with a fatal `StorageFailedError`.
 */
export async function syncFolderOf(
  path: string,
  fs: DurableFs = systemFs,
  platform: NodeJS.Platform = process.platform,
): Promise<void> {
  const folder = await openFolder(path, fs, platform);
  try {
    await syncFolder(folder);
  } catch (error) {
    throw failureOf(error, path);
  } finally {
    if (folder) await closeQuietly(folder);
  }
}

/**
 * Removes the temporary files that a crash left in `folder` and answers their names. For start-up only: the
 * caller holds the folder's lock, so none of them belongs to a write under way. A missing folder has none.
 */
export async function removeStaleTempFiles(folder: string, fs: DurableFs = systemFs): Promise<string[]> {
  const stale = (await namesIn(folder)).filter((name) => TEMP_NAME.test(name));
  for (const name of stale) await fs.unlink(join(folder, name));
  return stale;
}

const TEMP_NAME = /^\.durable-[0-9a-f]{32}\.tmp$/;

const tempName = () => `.durable-${randomBytes(16).toString('hex')}.tmp`;

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return [];
    throw error;
  }
}

async function openFolder(path: string, fs: DurableFs, platform: NodeJS.Platform) {
  if (platform === 'win32') return undefined;
  try {
    return await fs.open(dirname(path), 'r');
  } catch (error) {
    throw failureOf(error, path);
  }
}

async function writeTempFile(temp: string, bytes: Uint8Array, mode: number, fs: DurableFs): Promise<void> {
  const file = await fs.open(temp, 'wx', 0o600);
  try {
    await writeAll(file, bytes);
    // The umask may have taken bits away from the mode given to open.
    await file.chmod(mode);
    const { size } = await file.stat();
    if (size !== bytes.length) throw new Error(`${size} bytes are in the file, not ${bytes.length}`);
    await synced(() => file.sync(), { roomMayReturn: true });
  } catch (error) {
    await closeQuietly(file);
    throw error;
  }
  await file.close();
}

async function writeAll(file: DurableHandle, bytes: Uint8Array): Promise<void> {
  let position = 0;
  while (position < bytes.length) {
    const { bytesWritten } = await file.write(bytes, position, bytes.length - position, position);
    if (bytesWritten <= 0) throw new Error('the system wrote nothing and reported no error');
    position += bytesWritten;
  }
}

/** On Windows a virus scanner or indexer that has the old file open makes the rename fail for a moment. */
async function renameIntoPlace(temp: string, path: string, fs: DurableFs, platform: NodeJS.Platform) {
  const waitsMs = platform === 'win32' ? [5, 10, 20, 40, 80, 160, 320, 640] : [];
  for (const waitMs of waitsMs) {
    try {
      return await fs.rename(temp, path);
    } catch (error) {
      if (!['EPERM', 'EACCES', 'EBUSY'].includes(systemErrorCode(error) ?? '')) throw error;
      await delay(waitMs);
    }
  }
  await fs.rename(temp, path);
}

async function syncFolder(folder: DurableHandle | undefined): Promise<void> {
  // After the rename nothing can be taken back: even a lack of room leaves it unknown which name is on disk.
  if (folder) await synced(() => folder.sync(), { roomMayReturn: false });
}

/** A failed fsync: the kernel may have dropped the dirty pages and would report success the next time. */
class FailedSync extends Error {}

async function synced(sync: () => Promise<void>, { roomMayReturn }: { roomMayReturn: boolean }) {
  try {
    await sync();
  } catch (cause) {
    if (roomMayReturn && isOutOfRoom(cause)) throw cause;
    throw new FailedSync('fsync failed', { cause });
  }
}

function failureOf(error: unknown, path: string): Error {
  if (error instanceof FailedSync) return new StorageFailedError(path, true, { cause: error.cause });
  return asStorageError(error, path);
}

async function removeQuietly(temp: string, fs: DurableFs): Promise<void> {
  try {
    await fs.unlink(temp);
  } catch {
    // It was never made, or the disk refuses: the first failure is the one to report, and the next start
    // removes what is left.
  }
}

async function closeQuietly(file: DurableHandle): Promise<void> {
  try {
    await file.close();
  } catch {
    // Either the file is about to be removed and an earlier failure is the one to report, or it is a folder,
    // through whose handle nothing was written.
  }
}
