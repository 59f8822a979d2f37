import { closeSync, fdatasync, fsyncSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { crc32 } from 'node:zlib';
import { asStorageError, StorageFailedError } from './durable-errors.ts';

/** What a record carries: JSON, and bytes that would only grow in it. */
export interface LogRecord {
  readonly header: unknown;
  readonly blobs: readonly Uint8Array[];
}

export interface StoredRecord extends LogRecord {
  /** Where the record begins in the file. */
  readonly offset: number;
}

/** State (`V` valid, `X` void), length of the JSON, length of the blobs, CRC-32 of all that follows the state and itself. */
const headBytes = 13;
const largeBytes = 1024 * 1024;
const valid = 0x56;
const voided = 0x58;

/**
 * An append-only file of records. Appending is a write into the page cache, which survives the end of the process;
 * `sync` makes all that was appended survive power loss. A record that a crash cut short is not seen by the reader.
 */
export class RecordLog {
  readonly path: string;
  #descriptor: number;
  #end = 0;
  #syncing: Promise<void> | undefined;

  /** Makes the file, which must not be there. Its name survives power loss from here on. */
  constructor(path: string) {
    this.path = path;
    try {
      this.#descriptor = openSync(path, 'wx', 0o600);
      syncFolder(dirname(path));
    } catch (error) {
      throw asStorageError(error, path);
    }
  }

  get bytes(): number {
    return this.#end;
  }

  /**
   * Appends records, all or none; answers where each begins.
   *
   * @throws StorageFullError, StorageFailedError; then the file is as it was
   */
  append(records: readonly LogRecord[]): number[] {
    const offsets: number[] = [];
    const parts: Uint8Array[] = [];
    let at = this.#end;
    for (const record of records) {
      const encoded = encodeRecord(record);
      offsets.push(at);
      parts.push(...encoded);
      for (const part of encoded) at += part.length;
    }
    try {
      let to = this.#end;
      for (const piece of joined(parts)) {
        writeAll(this.#descriptor, piece, to);
        to += piece.length;
      }
    } catch (error) {
      this.#cutBack();
      throw asStorageError(error, this.path);
    }
    this.#end = at;
    return offsets;
  }

  /** Resolves once all that was appended before the call survives power loss. A failure is fatal. */
  async sync(): Promise<void> {
    // One that is under way may have begun before the newest append: it does not count.
    await this.#syncing?.catch(() => undefined);
    this.#syncing ??= this.#sync().finally(() => {
      this.#syncing = undefined;
    });
    await this.#syncing;
  }

  /** Makes a record count as never written, durably; writes in place, so that a full disk can't keep it from doing so. */
  voidRecord(offset: number): void {
    try {
      writeAll(this.#descriptor, Buffer.of(voided), offset);
      fsyncSync(this.#descriptor);
    } catch (error) {
      throw new StorageFailedError(this.path, true, { cause: error });
    }
  }

  /** Takes no more. Those who wait for an fsync get it first. */
  close(): void {
    const close = () => closeSync(this.#descriptor);
    if (this.#syncing === undefined) close();
    else this.sync().then(close, close);
  }

  #sync(): Promise<void> {
    return new Promise((resolve, reject) => {
      fdatasync(this.#descriptor, (error) =>
        error === null ? resolve() : reject(new StorageFailedError(this.path, true, { cause: error })),
      );
    });
  }

  #cutBack(): void {
    try {
      ftruncateSync(this.#descriptor, this.#end);
    } catch {
      // The reader stops at the cut-short record anyway, and the next append writes over it.
    }
  }
}

/** The valid records of a log, in order, up to the first that is cut short; `end` is where that is. */
export function readRecordLog(path: string): { readonly records: StoredRecord[]; readonly end: number } {
  const file = readFileSync(path);
  const records: StoredRecord[] = [];
  let at = 0;
  while (at + headBytes <= file.length) {
    const next = at + headBytes + file.readUInt32LE(at + 1) + file.readUInt32LE(at + 5);
    const state = file[at];
    if (next > file.length || (state !== valid && state !== voided)) break;
    if (
      checksumOf(file.subarray(at, at + headBytes), file.subarray(at + headBytes, next)) !==
      file.readUInt32LE(at + 9)
    )
      break;
    if (state === valid) records.push(decodeRecord(file, at));
    at = next;
  }
  return { records, end: at };
}

/** Marks a record of a log that nobody has open as never written. */
export function voidStoredRecord(path: string, offset: number): void {
  const descriptor = openSync(path, 'r+');
  try {
    writeAll(descriptor, Buffer.of(voided), offset);
    fsyncSync(descriptor);
  } catch (error) {
    throw new StorageFailedError(path, true, { cause: error });
  } finally {
    closeSync(descriptor);
  }
}

/** What is small is written together, at once; what is large goes as it is, for a copy would take as long as the write. */
function joined(parts: readonly Uint8Array[]): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  let small: Uint8Array[] = [];
  for (const part of parts) {
    if (part.length < largeBytes) {
      small.push(part);
      continue;
    }
    pieces.push(Buffer.concat(small), part);
    small = [];
  }
  pieces.push(Buffer.concat(small));
  return pieces.filter((piece) => piece.length > 0);
}

function encodeRecord({ header, blobs }: LogRecord): Uint8Array[] {
  const json = Buffer.from(JSON.stringify({ header, blobs: blobs.map((blob) => blob.length) }));
  const head = Buffer.alloc(headBytes);
  head[0] = valid;
  head.writeUInt32LE(json.length, 1);
  head.writeUInt32LE(
    blobs.reduce((sum, blob) => sum + blob.length, 0),
    5,
  );
  head.writeUInt32LE(checksumOf(head, json, ...blobs), 9);
  return [head, json, ...blobs];
}

function decodeRecord(file: Buffer, offset: number): StoredRecord {
  const jsonEnd = offset + headBytes + file.readUInt32LE(offset + 1);
  const { header, blobs: lengths } = JSON.parse(file.toString('utf8', offset + headBytes, jsonEnd)) as {
    header: unknown;
    blobs: number[];
  };
  let at = jsonEnd;
  const blobs = lengths.map((length) => {
    at += length;
    return file.subarray(at - length, at);
  });
  return { header, blobs, offset };
}

function checksumOf(head: Uint8Array, ...parts: readonly Uint8Array[]): number {
  return parts.reduce((sum, part) => crc32(part, sum), crc32(head.subarray(1, 9)));
}

function writeAll(descriptor: number, bytes: Uint8Array, position: number): void {
  let done = 0;
  while (done < bytes.length) {
    const written = writeSync(descriptor, bytes, done, bytes.length - done, position + done);
    if (written <= 0) throw new Error('the system wrote nothing and reported no error');
    done += written;
  }
}

function syncFolder(folder: string): void {
  if (process.platform === 'win32') return;
  const descriptor = openSync(folder, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
