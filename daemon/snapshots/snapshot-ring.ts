import { readFileSync } from 'node:fs';
import { type Digest, fromHex } from './blob.ts';
import type { SnapshotRecord } from './entry-state.ts';
import { orNull } from './pinned-folder.ts';
import { appendFileSync, replaceFileSync } from './sync-files.ts';
import type { SnapshotLimits } from './tree-calls.ts';

/** The newest snapshots, in a file of JSON lines; those before them were pruned. */
export class SnapshotRing {
  readonly #path: string;
  #records = new Map<string, SnapshotRecord>();
  #lines = 0;
  readonly #sizes = new Map<Digest, number>();

  constructor(path: string) {
    this.#path = path;
    const text = orNull(() => readFileSync(path, 'utf8')) ?? '';
    for (const line of text.split('\n').slice(0, -1)) this.#take(line);
    // A record that a crash cut short was not acknowledged; the next one must not be appended to its half.
    if (text !== '' && !text.endsWith('\n')) this.#rewrite();
  }

  get(snapshotId: string): SnapshotRecord | null {
    return this.#records.get(snapshotId) ?? null;
  }

  /** Those that are there already are left out. Durable on return. */
  add(records: readonly SnapshotRecord[]): void {
    const added = new Map<string, SnapshotRecord>();
    for (const record of records)
      if (!this.#records.has(record.snapshot_id)) added.set(record.snapshot_id, record);
    if (added.size === 0) return;
    appendFileSync(
      this.#path,
      [...added.values()].map((record) => `${JSON.stringify(record)}\n`).join(''),
      true,
    );
    for (const [id, record] of added) this.#records.set(id, record);
    this.#lines += added.size;
  }

  /** Ids of all contents that its snapshots need. */
  ids(): Set<Digest> {
    const ids = new Set<Digest>();
    for (const record of this.#records.values()) for (const id of idsOf(record)) ids.add(id);
    return ids;
  }

  /** Ids of the runs that the snapshots are of. */
  runs(): Set<string> {
    return new Set([...this.#records.values()].map(({ run_id }) => run_id));
  }

  /** Whether `prune` may have something to do: counts what others need, too, and asks for each size once. */
  mayExceed({ maxCount, maxBytes }: SnapshotLimits, sizeOf: (id: Digest) => number): boolean {
    if (this.#records.size > maxCount) return true;
    let bytes = 0;
    for (const id of this.ids()) {
      const size = this.#sizes.get(id) ?? sizeOf(id);
      this.#sizes.set(id, size);
      bytes += size;
    }
    return bytes > maxBytes;
  }

  /**
   * Drops the oldest snapshots until the limits are met; answers how many bytes their contents took. `costOf` says how
   * many a content takes that the tree does not need as well.
   */
  prune({ maxCount, maxBytes }: SnapshotLimits, costOf: (id: Digest) => number): number {
    const newestFirst = [...this.#records.values()].sort((a, b) => b.seq - a.seq);
    const counted = new Set<Digest>();
    let bytes = 0;
    let kept = 0;
    let freed = 0;
    for (const [at, record] of newestFirst.entries()) {
      const cost = idsOf(record).reduce((sum, id) => {
        const isNew = !counted.has(id);
        counted.add(id);
        return isNew ? sum + costOf(id) : sum;
      }, 0);
      bytes += cost;
      // Those that go are the oldest: none older than one that goes stays.
      if (kept === at && at < maxCount && bytes <= maxBytes) kept += 1;
      else freed += cost;
    }
    if (kept === newestFirst.length) return 0;
    const records = newestFirst.slice(0, kept).reverse();
    this.#records = new Map(records.map((record) => [record.snapshot_id, record]));
    this.#sizes.clear();
    // What is dropped stays in the file for a while, so that a full ring is not written anew each time.
    if (this.#lines > 2 * kept + 100) this.#rewrite();
    return freed;
  }

  #take(line: string): void {
    this.#lines += 1;
    try {
      // Our own file: what is JSON in it has the shape that we wrote.
      const record = JSON.parse(line) as SnapshotRecord;
      this.#records.set(record.snapshot_id, record);
    } catch {
      // A damaged line is a snapshot that is lost; undo says so when it is asked for.
    }
  }

  #rewrite(): void {
    replaceFileSync(
      this.#path,
      [...this.#records.values()].map((record) => `${JSON.stringify(record)}\n`).join(''),
    );
    this.#lines = this.#records.size;
  }
}

function idsOf(record: SnapshotRecord): Digest[] {
  return record.entries.flatMap(({ state }) => (state?.oid ? [fromHex(state.oid)] : []));
}
