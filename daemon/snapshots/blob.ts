import { hash } from 'node:crypto';
import { deflateSync, inflateSync } from 'node:zlib';

/**
 * Ids and hashes inside the worker: their bytes as a latin1 string, half of what hex digits take. There is one of
 * each for every file of the workspace.
 */
export type Digest = string;

export const toHex = (digest: Digest): string => Buffer.from(digest, 'latin1').toString('hex');
export const fromHex = (hex: string): Digest => Buffer.from(hex, 'hex').toString('latin1');

/** Git's id of a blob with this content. */
export function blobId(bytes: Uint8Array): Digest {
  return hash('sha1', Buffer.concat([Buffer.from(`blob ${bytes.length}\0`), bytes]), 'binary');
}

export function sha256(bytes: Uint8Array): Digest {
  return hash('sha256', bytes, 'binary');
}

/** A blob as an entry of a pack: type and length, then the content deflated. */
export function packEntry(bytes: Uint8Array): Buffer {
  const head = entryHead(bytes.length);
  // Without a size of its own each of many small contents gets a buffer of 16 KiB.
  const deflated = deflateSync(bytes, {
    level: 1,
    chunkSize: Math.min(Math.max(bytes.length, 64), 65_536) + 64,
  });
  // Not from the shared pool: a few bytes that wait to be written would keep 8 KiB of it alive.
  const entry = Buffer.allocUnsafeSlow(head.length + deflated.length);
  entry.set(head);
  entry.set(deflated, head.length);
  return entry;
}

/** The content of a pack's entry. Throws where it is not a whole blob. */
export function contentOf(entry: Buffer): Buffer {
  let at = 0;
  let byte = entry.readUInt8(at++);
  if (((byte >> 4) & 7) !== blobType) throw new Error('this entry of the pack is no blob');
  let length = byte & 15;
  for (let factor = 16; byte & 0x80; factor *= 128) {
    byte = entry.readUInt8(at++);
    length += (byte & 0x7f) * factor;
  }
  const content = inflateSync(entry.subarray(at));
  if (content.length !== length) throw new Error('this entry of the pack is cut short');
  return content;
}

const blobType = 3;

function entryHead(length: number): Buffer {
  const head = [];
  let byte = (blobType << 4) | (length & 15);
  for (let rest = Math.floor(length / 16); rest > 0; rest = Math.floor(rest / 128)) {
    head.push(byte | 0x80);
    byte = rest & 0x7f;
  }
  head.push(byte);
  return Buffer.from(head);
}
