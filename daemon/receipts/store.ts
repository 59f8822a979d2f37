import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  fsync,
  ftruncateSync,
  openSync,
  readSync,
  renameSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { asStorageError, StorageFailedError, systemErrorCode } from '../lib/durable-errors.ts';

/** The calls that can fail while receipts are written; tests hand in some that do. */
export interface DiskCalls {
  open(path: string, flags: number, mode: number): number;
  write(descriptor: number, bytes: Uint8Array, offset: number, length: number, position: number): number;
  truncate(descriptor: number, bytes: number): void;
  rename(from: string, to: string): void;
  sync(descriptor: number): Promise<void>;
}

export const systemDisk: DiskCalls = {
  open: openSync,
  write: writeSync,
  truncate: ftruncateSync,
  rename: renameSync,
  sync: promisify(fsync),
};

/** What a crash can leave in the folder; nobody else's names look like it. */
export const tempNameForm = /^\.durable-[0-9a-f]{32}\.tmp$/;

const tempName = () => `.durable-${randomBytes(16).toString('hex')}.tmp`;

/** A link is not followed, and a FIFO does not hold the daemon up: both may stand where a file was. */
const plain = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
const readPlain = constants.O_RDONLY | plain;
const createNew = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;
const writeInPlace = constants.O_WRONLY | constants.O_CREAT | plain;

/**
 * Writes a file that must hold exactly `bytes`: nothing is done where it does already, and what else is there is
 * replaced, whole or not at all. In the page cache when it returns. `replaced`: something else stood there.
 */
export function ensureFile(
  path: string,
  bytes: Uint8Array,
  disk: DiskCalls,
): 'written' | 'there' | 'replaced' {
  try {
    createFile(path, bytes, disk);
    return 'written';
  } catch (error) {
    if (systemErrorCode(error) !== 'EEXIST') throw asStorageError(error, path);
  }
  if (readPlainFileSync(path)?.equals(bytes) === true) return 'there';
  replaceFile(path, bytes, disk);
  return 'replaced';
}

/** Replaces the file, whole or not at all, or makes it. In the page cache when it returns. */
export function replaceFile(path: string, bytes: Uint8Array, disk: DiskCalls): void {
  const temp = join(dirname(path), tempName());
  try {
    createFile(temp, bytes, disk);
    disk.rename(temp, path);
  } catch (error) {
    removeQuietly(temp);
    throw asStorageError(error, path);
  }
}

/**
 * Writes a small file of a fixed length: over the old one where that is of the same length, else in its place. On ext4 a
 * rename over a file makes the disk write at once, fifty times the price of all else. One write of less than a sector
 * is as whole as a rename: SIGKILL can't cut it in two, nor can power loss. In the page cache when it returns.
 */
export function writeSmallFile(path: string, bytes: Uint8Array, disk: DiskCalls): void {
  if (bytes.length > sectorBytes || !overwrite(path, bytes, disk)) replaceFile(path, bytes, disk);
}

/**
 * Makes `bytes` the end of a file, from `offset` on; what is behind it goes. Answers the size the file had. On a failure
 * the file is cut back to `offset`.
 *
 * @throws StorageFullError, StorageFailedError
 */
export function writeEnd(path: string, offset: number, bytes: Uint8Array, disk: DiskCalls): number {
  let descriptor: number | undefined;
  let begun = false;
  try {
    descriptor = disk.open(path, writeInPlace, 0o600);
    const found = fstatSync(descriptor);
    if (!found.isFile()) throw new Error('this is no plain file');
    if (found.size > offset) disk.truncate(descriptor, offset);
    begun = true;
    writeAll(descriptor, bytes, offset, disk);
    return found.size;
  } catch (error) {
    if (begun && descriptor !== undefined) cutBackQuietly(descriptor, offset, disk);
    throw asStorageError(error, path);
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** Null where there is none, or where a link, a folder or a FIFO stands in its place. */
export async function readPlainFile(path: string): Promise<Buffer | null> {
  const file = await openPlainFile(path);
  if (file === null) return null;
  try {
    return await file.readFile();
  } finally {
    await file.close();
  }
}

/** An open file for reading; null as with `readPlainFile`. The caller closes it. */
export async function openPlainFile(path: string) {
  try {
    const file = await open(path, readPlain);
    if ((await file.stat()).isFile()) return file;
    await file.close();
    return null;
  } catch (error) {
    if (notPlain.has(systemErrorCode(error) ?? '')) return null;
    throw asStorageError(error, path);
  }
}

/**
 * Makes what was written to a file durable. Answers false where it is gone.
 *
 * @throws StorageFailedError (fatal) where the disk fails
 */
export async function syncFile(path: string, disk: DiskCalls): Promise<boolean> {
  const file = await openToSync(path);
  if (file === null) return false;
  try {
    await disk.sync(file.fd);
  } catch (cause) {
    throw new StorageFailedError(path, true, { cause });
  } finally {
    await file.close();
  }
  return true;
}

const notPlain = new Set(['ENOENT', 'ELOOP', 'ENXIO', 'EISDIR', 'ENOTDIR', 'EMLINK']);

async function openToSync(path: string) {
  try {
    // Windows flushes only what is open for writing.
    return await open(path, constants.O_RDWR | plain);
  } catch (error) {
    if (notPlain.has(systemErrorCode(error) ?? '')) return null;
    throw asStorageError(error, path);
  }
}

const sectorBytes = 512;

/** False where something else than a file of that length stands there. */
function overwrite(path: string, bytes: Uint8Array, disk: DiskCalls): boolean {
  let descriptor: number | undefined;
  try {
    descriptor = disk.open(path, constants.O_WRONLY | plain, 0o600);
    const found = fstatSync(descriptor);
    // Through a second name of the file, someone else would be written to.
    if (!found.isFile() || found.nlink !== 1 || found.size !== bytes.length) return false;
    return disk.write(descriptor, bytes, 0, bytes.length, 0) === bytes.length;
  } catch (error) {
    if (notPlain.has(systemErrorCode(error) ?? '')) return false;
    throw asStorageError(error, path);
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

function createFile(path: string, bytes: Uint8Array, disk: DiskCalls): void {
  const descriptor = disk.open(path, createNew, 0o600);
  let whole = false;
  try {
    writeAll(descriptor, bytes, 0, disk);
    whole = true;
  } finally {
    closeSync(descriptor);
    if (!whole) removeQuietly(path);
  }
}

function writeAll(descriptor: number, bytes: Uint8Array, offset: number, disk: DiskCalls): void {
  let done = 0;
  while (done < bytes.length) {
    const written = disk.write(descriptor, bytes, done, bytes.length - done, offset + done);
    if (written <= 0) throw new Error('the system wrote nothing and reported no error');
    done += written;
  }
}

function readPlainFileSync(path: string): Buffer | null {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, readPlain);
    const { size } = fstatSync(descriptor);
    if (!fstatSync(descriptor).isFile()) return null;
    const bytes = Buffer.alloc(size);
    return bytes.subarray(0, readSync(descriptor, bytes, 0, size, 0));
  } catch (error) {
    if (notPlain.has(systemErrorCode(error) ?? '')) return null;
    throw asStorageError(error, path);
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

function cutBackQuietly(descriptor: number, bytes: number, disk: DiskCalls): void {
  try {
    disk.truncate(descriptor, bytes);
  } catch {
    // The first failure is the one to report; the next write begins at the same offset and cuts it then.
  }
}

/** Removes a file that a failed write leaves; where the disk refuses that too, it stays. */
export function removeQuietly(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // It was never made, or the disk refuses: the first failure is the one to report. What is left of a receipt is
    // replaced when it is written again; the next start removes temporary files.
  }
}
