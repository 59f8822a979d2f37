import { isUtf8 } from 'node:buffer';
import { fstatSync, read as readCallback } from 'node:fs';
import { promisify } from 'node:util';
import { maxFileBytes } from '../contract/files.ts';
import type { ByteSource } from '../http/answer-bytes.ts';
import { PathChangedError } from '../lib/confined-folder.ts';
import { type OpenFile, openFileInside } from '../lib/confined-reads.ts';
import { hashDescriptorInTurns } from '../lib/content-hash.ts';
import { type EntryStat, entryStat } from '../lib/entry-stat.ts';
import type { ByteRange } from './byte-range.ts';
import { whyNoFile } from './locate.ts';
import { fileTooLarge } from './plan-edit.ts';

/** A file's content at one moment. Whoever has it closes it, or hands on what `part` gives, which does. */
export interface FileContent extends Disposable {
  readonly hash: string;
  /** Bytes. */
  readonly size: number;
  /** Told by the first 64 KiB: valid UTF-8 without NUL. */
  readonly isText: boolean;
  part(range: ByteRange): ByteSource;
}

const chunkBytes = 256 * 1024;
const probeBytes = 64 * 1024;
const read = promisify(readCallback);

/**
 * Opens the file at a real byte path for reading.
 *
 * @throws CodedError file_not_found, not_a_file, file_too_large; PathChangedError where it is being written; the
 * system's error
 */
export async function openContent(root: string, path: string, hashes: HashCache): Promise<FileContent> {
  const file = openFileInside(root, path);
  if (file === null) throw whyNoFile(root, path);
  try {
    if (file.stat.size > maxFileBytes) throw fileTooLarge(path);
    const hash = await hashes.hashOf(file, path);
    return {
      hash,
      size: file.stat.size,
      isText: await looksLikeText(file),
      part: (range) => partOf(file, path, range),
      [Symbol.dispose]: () => file[Symbol.dispose](),
    };
  } catch (error) {
    file[Symbol.dispose]();
    throw error;
  }
}

/** The file must stay as it was hashed: else the last chunk is held back, and the reader sees that it failed. */
function partOf(file: OpenFile, path: string, { first, last }: ByteRange): ByteSource {
  async function* chunks() {
    for (let at = first; at <= last; ) {
      const wanted = Math.min(chunkBytes, last + 1 - at);
      const { bytesRead, buffer } = await read(file.descriptor, Buffer.allocUnsafe(wanted), 0, wanted, at);
      if (bytesRead === 0 || (at + bytesRead > last && !isUntouched(file)))
        throw new PathChangedError(path, 'The file was written while it was read.');
      yield buffer.subarray(0, bytesRead);
      at += bytesRead;
    }
  }
  return { [Symbol.asyncIterator]: chunks, [Symbol.dispose]: () => file[Symbol.dispose]() };
}

function isUntouched({ descriptor, stat }: OpenFile): boolean {
  const now = entryStat(fstatSync(descriptor, { bigint: true }));
  return now.size === stat.size && now.mtimeNs === stat.mtimeNs;
}

async function looksLikeText({ descriptor, stat }: OpenFile): Promise<boolean> {
  const size = Math.min(probeBytes, stat.size);
  const { buffer } = await read(descriptor, Buffer.alloc(size), 0, size, 0);
  if (buffer.includes(0)) return false;
  // The probe may end inside a character, of up to four bytes.
  const cuts = stat.size > size ? [0, 1, 2, 3] : [0];
  return cuts.some((cut) => isUtf8(buffer.subarray(0, size - cut)));
}

const maxHashes = 1000;
const worthKeepingBytes = 256 * 1024;
const settledNs = 2_000_000_000n;

/** Hashes of large files, so that one that is read in many ranges is hashed once. */
export class HashCache {
  readonly #hashes = new Map<string, string>();

  async hashOf(file: OpenFile, path: string): Promise<string> {
    const key = keyOf(file.stat);
    const known = this.#hashes.get(key);
    if (known !== undefined) return known;
    const nowNs = BigInt(Date.now()) * 1_000_000n;
    const hashed = await hashDescriptorInTurns(file.descriptor, file.stat.size);
    if (hashed === null || !isUntouched(file))
      throw new PathChangedError(path, 'The file was written while it was read.');
    // A change in the same tick of the file system's clock would not show in the times.
    if (file.stat.size >= worthKeepingBytes && nowNs - file.stat.ctimeNs > settledNs)
      this.#keep(key, hashed.hash);
    return hashed.hash;
  }

  #keep(key: string, hash: string): void {
    const [oldest] = this.#hashes.keys();
    if (oldest !== undefined && this.#hashes.size >= maxHashes) this.#hashes.delete(oldest);
    this.#hashes.set(key, hash);
  }
}

const keyOf = ({ dev, ino, size, mtimeNs, ctimeNs }: EntryStat) =>
  [dev, ino, size, mtimeNs, ctimeNs].join(':');
