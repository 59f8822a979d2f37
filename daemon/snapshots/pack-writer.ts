import { createHash, randomBytes } from 'node:crypto';
import { closeSync, openSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import type { Digest } from './blob.ts';
import { asStorageErrors, replaceFileSync, syncFile, writeWhole } from './sync-files.ts';

/** Offsets of 32 bits have one bit for something else; a pack stays well below. */
export const maxPackBytes = 1024 * 1024 * 1024;

interface Entry {
  readonly id: Digest;
  readonly offset: number;
  readonly checksum: number;
}

const bufferBytes = 1024 * 1024;

/**
 * Writes entries into one pack and its index (both of git's version 2) in `folder`; answers its name, without
 * extension. Durable on return; a failure leaves no pack.
 */
export function writePack(
  folder: string,
  count: number,
  entries: Iterable<readonly [id: Digest, entry: Buffer]>,
): string {
  const temp = join(folder, `${packTempPrefix}${randomBytes(8).toString('hex')}`);
  return asStorageErrors(temp, () => {
    const file = openSync(temp, 'wx', 0o400);
    try {
      const { written, trailer } = writeEntries(file, count, entries);
      syncFile(file, temp);
      const name = `pack-${trailer.toString('hex')}`;
      const path = join(folder, name);
      // Git's order: an index makes its pack visible, so the pack comes first.
      renameSync(temp, `${path}.pack`);
      replaceFileSync(`${path}.idx`, indexOf(written, trailer));
      return name;
    } catch (error) {
      rmSync(temp, { force: true });
      throw error;
    } finally {
      closeSync(file);
    }
  });
}

/** Begins the name of a pack that is not finished. */
export const packTempPrefix = 'tmp_pack_';

function writeEntries(file: number, count: number, entries: Iterable<readonly [Digest, Buffer]>) {
  const digest = createHash('sha1');
  const written: Entry[] = [];
  let buffered: Buffer[] = [];
  let waiting = 0;
  let offset = 0;
  const drain = () => {
    const bytes = Buffer.concat(buffered);
    digest.update(bytes);
    writeWhole(file, bytes);
    buffered = [];
    waiting = 0;
  };
  const add = (bytes: Buffer) => {
    buffered.push(bytes);
    offset += bytes.length;
    waiting += bytes.length;
    if (waiting >= bufferBytes) drain();
  };
  add(packHead(count));
  for (const [id, entry] of entries) {
    written.push({ id, offset, checksum: crc32(entry) });
    add(entry);
  }
  if (written.length !== count) throw new Error(`${written.length} entries for a pack of ${count}`);
  drain();
  const trailer = digest.digest();
  writeWhole(file, trailer);
  return { written, trailer };
}

function packHead(count: number): Buffer {
  const head = Buffer.from('PACK\0\0\0\0\0\0\0\0', 'latin1');
  head.writeUInt32BE(2, 4);
  head.writeUInt32BE(count, 8);
  return head;
}

/** Head, fan-out by first byte, ids, CRC-32 of the entries, offsets, SHA-1 of pack and of index. */
function indexOf(entries: readonly Entry[], trailer: Buffer): Buffer {
  // Latin1 strings compare as their bytes do.
  const sorted = [...entries].sort((a, b) => (a.id < b.id ? -1 : 1));
  const count = sorted.length;
  const index = Buffer.alloc(8 + 1024 + count * 28 + 40);
  index.write('\xfftOc', 0, 'latin1');
  index.writeUInt32BE(2, 4);
  const idsAt = 8 + 1024;
  for (const [at, { id, offset, checksum }] of sorted.entries()) {
    index.write(id, idsAt + at * 20, 'latin1');
    index.writeUInt32BE(checksum, idsAt + count * 20 + at * 4);
    index.writeUInt32BE(offset, idsAt + count * 24 + at * 4);
  }
  let below = 0;
  for (let byte = 0; byte < 256; byte += 1) {
    while (below < count && index.readUInt8(idsAt + below * 20) <= byte) below += 1;
    index.writeUInt32BE(below, 8 + byte * 4);
  }
  trailer.copy(index, idsAt + count * 28);
  const digest = createHash('sha1').update(index.subarray(0, -20)).digest();
  digest.copy(index, index.length - 20);
  return index;
}
