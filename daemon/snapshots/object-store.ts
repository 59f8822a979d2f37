import { readdirSync } from 'node:fs';
import { blobId, contentOf, type Digest, packEntry, toHex } from './blob.ts';
import { prepareGitFolder } from './git-folder.ts';
import { PackFile } from './pack-file.ts';
import { maxPackBytes, writePack } from './pack-writer.ts';

/** With more packs than this the small ones are merged. */
const maxPacks = 50;
/** New contents are written out when they are more than this, deflated. */
const maxPendingBytes = 16 * 1024 * 1024;
const maxPendingCount = 20_000;

/**
 * Contents by git's blob id, in packs of our own making that git can read. New ones wait in memory until `flush`
 * writes them, all into one pack.
 */
export class ObjectStore {
  readonly #packFolder: string;
  #packs: PackFile[] = [];
  readonly #pending = new Map<Digest, Buffer>();
  #pendingBytes = 0;

  /** @param onDamaged hears of a pack that can't be read and is left alone */
  constructor(folder: string, onDamaged: (name: string) => void) {
    this.#packFolder = prepareGitFolder(folder);
    for (const file of readdirSync(this.#packFolder)) {
      if (!file.endsWith('.idx')) continue;
      const name = file.slice(0, -'.idx'.length);
      try {
        this.#packs.push(new PackFile(this.#packFolder, name));
      } catch {
        // What it holds is lost to undo; all else goes on, and what is still in the tree is stored anew.
        onDamaged(name);
      }
    }
  }

  /** Keeps a content; durable after the next `flush`. */
  add(bytes: Uint8Array, id: Digest = blobId(bytes)): Digest {
    if (this.has(id)) return id;
    const entry = packEntry(bytes);
    this.#pending.set(id, entry);
    this.#pendingBytes += entry.length;
    return id;
  }

  get hasPending(): boolean {
    return this.#pending.size > 0;
  }

  /** To be called now and then while much is added. */
  flushIfLarge(): void {
    if (this.#pendingBytes > maxPendingBytes || this.#pending.size > maxPendingCount) this.flush();
  }

  /** Makes all that was added durable. On failure it stays in memory, and the next call tries again. */
  flush(): void {
    if (this.#pending.size === 0) return;
    this.#packs.push(
      new PackFile(this.#packFolder, writePack(this.#packFolder, this.#pending.size, this.#pending)),
    );
    this.#pending.clear();
    this.#pendingBytes = 0;
  }

  /** The same, but only where one of these waits for it. */
  flushIfPending(ids: Iterable<Digest>): void {
    for (const id of ids) if (this.#pending.has(id)) this.flush();
  }

  has(id: Digest): boolean {
    return this.#pending.has(id) || this.#packs.some((pack) => pack.has(id));
  }

  /** Null where it is not kept. Throws where what is kept is damaged. */
  read(id: Digest): Buffer | null {
    const entry = this.#entry(id);
    if (entry === null) return null;
    const content = contentOf(entry);
    if (blobId(content) !== id) throw new Error(`object ${toHex(id)} is damaged`);
    return content;
  }

  /** Bytes that it takes, deflated; 0 where it is not kept. */
  sizeOf(id: Digest): number {
    const pending = this.#pending.get(id);
    if (pending) return pending.length;
    for (const pack of this.#packs) {
      const size = pack.sizeOf(id);
      if (size > 0) return size;
    }
    return 0;
  }

  get needsMerge(): boolean {
    return this.#packs.length > maxPacks;
  }

  /**
   * Merges packs, leaving out what nobody needs: those with more than a quarter of that, and the small ones, so that
   * few are left and a large one is seldom copied. A crash in between leaves some contents in two packs, none in none.
   */
  compact(isNeeded: (id: Digest) => boolean): void {
    const merged = this.#packs.filter((pack) => countNeeded(pack, isNeeded) < pack.count * 0.75);
    const whole = this.#packs.filter((pack) => !merged.includes(pack)).sort((a, b) => b.bytes - a.bytes);
    let smaller = whole.reduce((sum, pack) => sum + pack.bytes, 0);
    // Those that stay are each more than twice all that are smaller: there can't be many, and none is copied often.
    const small = whole.filter((pack) => {
      smaller -= pack.bytes;
      return pack.bytes <= 2 * smaller && pack.bytes < maxPackBytes / 2;
    });
    const smallest = whole.at(-1);
    if (small.length > 0 && smallest && !small.includes(smallest)) small.push(smallest);
    merged.push(...small);
    if (merged.length === 0) return;
    const made = this.#copyNeeded(merged, isNeeded);
    const gone = new Set(merged);
    const kept = this.#packs.filter((pack) => !gone.has(pack));
    // A pack is named by what it holds: copying all of one gives it again.
    const names = new Set(made);
    for (const pack of gone) names.has(pack.name) ? pack.close() : pack.remove();
    this.#packs = [...kept, ...made.map((name) => new PackFile(this.#packFolder, name))];
  }

  close(): void {
    for (const pack of this.#packs) pack.close();
    this.#packs = [];
  }

  #entry(id: Digest): Buffer | null {
    const pending = this.#pending.get(id);
    if (pending) return pending;
    for (const pack of this.#packs) {
      const entry = pack.read(id);
      if (entry) return entry;
    }
    return null;
  }

  #copyNeeded(packs: readonly PackFile[], isNeeded: (id: Digest) => boolean): string[] {
    const seen = new Set<Digest>();
    const batches: (readonly [PackFile, Digest])[][] = [];
    let batchBytes = Number.POSITIVE_INFINITY;
    for (const pack of packs)
      for (const id of pack.ids()) {
        if (seen.has(id) || !isNeeded(id)) continue;
        seen.add(id);
        const size = pack.sizeOf(id);
        if (batchBytes + size > maxPackBytes) {
          batches.push([]);
          batchBytes = 0;
        }
        batches.at(-1)?.push([pack, id]);
        batchBytes += size;
      }
    return batches.map((batch) => writePack(this.#packFolder, batch.length, copied(batch)));
  }
}

function countNeeded(pack: PackFile, isNeeded: (id: Digest) => boolean): number {
  let needed = 0;
  for (const id of pack.ids()) if (isNeeded(id)) needed += 1;
  return needed;
}

function* copied(batch: readonly (readonly [PackFile, Digest])[]): Generator<readonly [Digest, Buffer]> {
  for (const [pack, id] of batch) {
    const entry = pack.read(id);
    if (entry === null) throw new Error(`${pack.name} lost an entry`);
    yield [id, entry];
  }
}
