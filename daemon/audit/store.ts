import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { asStorageError, StorageFailedError } from '../lib/durable-errors.ts';
import { syncFolderOf } from '../lib/durable-file.ts';

/** What the log needs of an open file; `FileHandle` of node:fs/promises is one. Tests hand in one that fails. */
export interface AuditHandle {
  write(
    bytes: Uint8Array,
    offset: number,
    length: number,
    position: number,
  ): Promise<{ bytesWritten: number }>;
  read(bytes: Uint8Array, offset: number, length: number, position: number): Promise<{ bytesRead: number }>;
  stat(): Promise<{ size: number; mode: number; isFile(): boolean }>;
  chmod(mode: number): Promise<void>;
  truncate(bytes: number): Promise<void>;
  datasync(): Promise<void>;
  close(): Promise<void>;
}

export type OpenAuditHandle = (path: string, flags: number, mode: number) => Promise<AuditHandle>;

/** A file that only grows. Its writer calls one method that changes it at a time. */
export class AuditFile {
  readonly path: string;
  readonly #handle: AuditHandle;
  /** Where the durable part ends. */
  #end: number;

  /**
   * Opens the file or makes it, for its owner alone.
   *
   * @throws StorageFullError, StorageFailedError
   */
  static async open(path: string, openHandle: OpenAuditHandle = open): Promise<AuditFile> {
    try {
      const handle = await openHandle(path, openFlags, 0o600);
      try {
        return new AuditFile(path, handle, await prepared(path, handle));
      } catch (error) {
        await handle.close();
        throw error;
      }
    } catch (error) {
      throw asStorageError(error, path);
    }
  }

  private constructor(path: string, handle: AuditHandle, end: number) {
    this.path = path;
    this.#handle = handle;
    this.#end = end;
  }

  get bytes(): number {
    return this.#end;
  }

  /**
   * Resolves once the bytes, all of them, survive power loss. On a failure that is not fatal the file is as it was.
   *
   * @throws StorageFullError, StorageFailedError
   */
  async append(bytes: Uint8Array): Promise<void> {
    try {
      await this.#writeAll(bytes);
    } catch (error) {
      await this.#cutBack();
      throw asStorageError(error, this.path);
    }
    await this.#sync();
    this.#end += bytes.length;
  }

  /** Takes away what is behind `end`, durably. */
  async cutAt(end: number): Promise<void> {
    try {
      await this.#handle.truncate(end);
    } catch (error) {
      throw asStorageError(error, this.path);
    }
    await this.#sync();
    this.#end = end;
  }

  /** The bytes from `start` to `end`, or to where the file ends, should someone else have cut it. */
  async read(start: number, end: number): Promise<Buffer> {
    const bytes = Buffer.alloc(end - start);
    let done = 0;
    try {
      while (done < bytes.length) {
        const { bytesRead } = await this.#handle.read(bytes, done, bytes.length - done, start + done);
        if (bytesRead === 0) break;
        done += bytesRead;
      }
    } catch (error) {
      throw asStorageError(error, this.path);
    }
    return bytes.subarray(0, done);
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }

  async #writeAll(bytes: Uint8Array): Promise<void> {
    let done = 0;
    while (done < bytes.length) {
      const { bytesWritten } = await this.#handle.write(bytes, done, bytes.length - done, this.#end + done);
      if (bytesWritten <= 0) throw new Error('the system wrote nothing and reported no error');
      done += bytesWritten;
    }
  }

  async #cutBack(): Promise<void> {
    try {
      await this.#handle.truncate(this.#end);
    } catch (cause) {
      // Half an entry is left, and what comes next would be written into it.
      throw new StorageFailedError(this.path, true, { cause });
    }
  }

  /** After a failed fsync the kernel may have dropped the pages and would report success the next time. */
  async #sync(): Promise<void> {
    try {
      await this.#handle.datasync();
    } catch (cause) {
      throw new StorageFailedError(this.path, true, { cause });
    }
  }
}

/** A link is not followed, and a FIFO does not hold the daemon up. */
const openFlags =
  constants.O_RDWR | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** Answers the file's size. */
async function prepared(path: string, handle: AuditHandle): Promise<number> {
  const found = await handle.stat();
  if (!found.isFile()) throw new Error('this is no plain file');
  if ((found.mode & 0o777) !== 0o600) await handle.chmod(0o600);
  if (found.size === 0) await syncFolderOf(path);
  return found.size;
}
