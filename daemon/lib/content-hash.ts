import { createHash, hash } from 'node:crypto';
import { read, readSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { promisify } from 'node:util';

/** Content over this many bytes is hashed, but not kept for an undo: it has no blob id. */
const maxBlobBytes = 10 * 1024 * 1024;
const chunkBytes = 1024 * 1024;

export interface ContentHash {
  /** `sha256:` and 64 hex digits: what `sha256sum` prints. */
  readonly hash: string;
  /** Git blob id, 40 hex digits; null over 10 MiB. */
  readonly oid: string | null;
}

export function hashContent(bytes: Uint8Array): ContentHash {
  const oid = bytes.length > maxBlobBytes ? null : blobHash(bytes.length).update(bytes).digest('hex');
  return { hash: `sha256:${hash('sha256', bytes, 'hex')}`, oid };
}

/** The same, letting others have their turn in between: for content of many megabytes. */
export async function hashContentInTurns(bytes: Uint8Array): Promise<ContentHash> {
  if (bytes.length <= chunkBytes) return hashContent(bytes);
  const hashing = new Hashing(bytes.length);
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    hashing.update(bytes.subarray(at, at + chunkBytes));
    await nextTurn();
  }
  return hashing.digest();
}

/** The first `size` bytes of an open file; null where it has become shorter. */
export function hashDescriptor(descriptor: number, size: number): ContentHash | null {
  const hashing = new Hashing(size);
  const chunk = Buffer.allocUnsafe(Math.min(chunkBytes, size));
  for (let at = 0; at < size; ) {
    const bytesRead = readSync(descriptor, chunk, 0, Math.min(chunk.length, size - at), at);
    if (bytesRead === 0) return null;
    hashing.update(chunk.subarray(0, bytesRead));
    at += bytesRead;
  }
  return hashing.digest();
}

/** The same, letting others have their turn in between. */
export async function hashDescriptorInTurns(descriptor: number, size: number): Promise<ContentHash | null> {
  const hashing = new Hashing(size);
  const chunk = Buffer.allocUnsafe(Math.min(chunkBytes, size));
  for (let at = 0; at < size; ) {
    const { bytesRead } = await readLater(descriptor, chunk, 0, Math.min(chunk.length, size - at), at);
    if (bytesRead === 0) return null;
    hashing.update(chunk.subarray(0, bytesRead));
    at += bytesRead;
  }
  return hashing.digest();
}

const readLater = promisify(read);

const blobHash = (size: number) => createHash('sha1').update(`blob ${size}\0`);

class Hashing {
  readonly #sha256 = createHash('sha256');
  readonly #blob: ReturnType<typeof createHash> | null;

  constructor(size: number) {
    this.#blob = size > maxBlobBytes ? null : blobHash(size);
  }

  update(chunk: Uint8Array): void {
    this.#sha256.update(chunk);
    this.#blob?.update(chunk);
  }

  digest(): ContentHash {
    return { hash: `sha256:${this.#sha256.digest('hex')}`, oid: this.#blob?.digest('hex') ?? null };
  }
}
