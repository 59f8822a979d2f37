import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { asStorageError, StorageFailedError } from '../lib/durable-errors.ts';

/**
 * Durable writes of the worker thread, which has nothing else to do meanwhile. They fail with `StorageFullError` or
 * `StorageFailedError`; after a failed fsync the latter is fatal.
 */

/** Replaces the file at `path` whole or not at all; durable on return. */
export function replaceFileSync(path: string, content: string | Uint8Array): void {
  const temp = `${path}.tmp`;
  asStorageErrors(path, () => {
    const file = openSync(temp, 'w', 0o600);
    try {
      writeWhole(file, typeof content === 'string' ? Buffer.from(content) : content);
      syncFile(file, path);
    } catch (error) {
      rmSync(temp, { force: true });
      throw error;
    } finally {
      closeSync(file);
    }
    renameSync(temp, path);
  });
  syncFolderOfSync(path);
}

/** Appends to the file at `path`, or makes it; durable on return where `durably` is true. */
export function appendFileSync(path: string, content: string, durably: boolean): void {
  asStorageErrors(path, () => {
    const file = openSync(path, 'a', 0o600);
    try {
      writeWhole(file, Buffer.from(content));
      if (durably) syncFile(file, path);
    } finally {
      closeSync(file);
    }
  });
}

/** Makes changes of names in the folder of `path` durable. */
export function syncFolderOfSync(path: string): void {
  if (process.platform === 'win32') return;
  asStorageErrors(path, () => {
    const folder = openSync(dirname(path), 'r');
    try {
      syncFile(folder, path);
    } finally {
      closeSync(folder);
    }
  });
}

export function writeWhole(file: number, bytes: Uint8Array): void {
  let done = 0;
  while (done < bytes.length) {
    const written = writeSync(file, bytes, done, bytes.length - done);
    if (written <= 0) throw new Error('the system wrote nothing and reported no error');
    done += written;
  }
}

export function syncFile(file: number, path: string): void {
  try {
    fsyncSync(file);
  } catch (cause) {
    throw new StorageFailedError(path, true, { cause });
  }
}

export function asStorageErrors<Result>(path: string, act: () => Result): Result {
  try {
    return act();
  } catch (error) {
    throw asStorageError(error, path);
  }
}
