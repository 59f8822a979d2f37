import { constants, existsSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { parentOf, systemPath } from '../lib/byte-path.ts';
import { StorageFailedError, systemErrorCode } from '../lib/durable-errors.ts';
import { syncFilesystems } from '../lib/sync-filesystem.ts';
import type { ReceiptStore } from '../receipts/receipt-store.ts';
import type { SnapshotRecord } from '../snapshots/entry-state.ts';
import type { TreeKeeper } from '../snapshots/tree-keeper.ts';
import type { Committed } from './committer.ts';
import type { Journal } from './journal.ts';

export interface WriteBehindOptions {
  readonly root: string;
  readonly journal: Journal;
  readonly store: Pick<ReceiptStore, 'sync' | 'folder'>;
  readonly keeper: Pick<TreeKeeper, 'flush'>;
  /** Makes the daemon's own copy of the checkpoint durable. */
  readonly syncTrusted: () => Promise<void>;
  /** Whether something is under way in the journal's current segment. */
  readonly isBusy: () => boolean;
  readonly onFatal: (error: Error) => void;
  readonly onNotice: (message: string) => void;
}

/** What follows from one segment of the journal and is not surely on disk yet. */
interface Unflushed {
  readonly receiptIds: string[];
  readonly snapshots: SnapshotRecord[];
  readonly contents: Map<string, Buffer>;
  readonly paths: Set<string>;
}

const maxSegmentBytes = 16 * 1024 * 1024;
const idleMs = 1000;
/** More than this many segments behind, and callers wait. */
const maxBehind = 4;

/**
 * Brings to the disk what the journal vouches for: receipt files, index, checkpoint, the contents of snapshots, the changed
 * files themselves. When a segment's are all there, the segment is removed.
 */
export class WriteBehind {
  readonly #options: WriteBehindOptions;
  readonly #behind = new Map<string, Unflushed>();
  #current: Unflushed = emptyUnflushed();
  #work: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;
  #isDue = false;

  constructor(options: WriteBehindOptions) {
    this.#options = options;
  }

  add({ receipt, snapshot, draft }: Committed): void {
    const { receiptIds, snapshots, contents, paths } = this.#current;
    receiptIds.push(receipt.receipt_id);
    snapshots.push(snapshot);
    for (const { oid, bytes } of draft.parts.contents) contents.set(oid, bytes);
    if (draft.steps.length > 0) for (const { path } of draft.parts.changes) paths.add(path);
    this.#timer ??= setTimeout(() => this.#whenDue(), idleMs).unref();
  }

  /** To be called when nothing is under way in the journal's current segment: then it can be ended. */
  atRest(): void {
    if (this.#isDue || this.#options.journal.bytes >= maxSegmentBytes) this.#rotate();
  }

  /** A content that is in no pack yet. */
  content(oid: string): Buffer | undefined {
    for (const { contents } of [this.#current, ...this.#behind.values()]) {
      const bytes = contents.get(oid);
      if (bytes !== undefined) return bytes;
    }
    return undefined;
  }

  snapshot(id: string): SnapshotRecord | undefined {
    for (const { snapshots } of [this.#current, ...this.#behind.values()]) {
      const found = snapshots.find(({ snapshot_id }) => snapshot_id === id);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** Resolves once there is room for more. */
  async room(): Promise<void> {
    if (this.#behind.size > maxBehind) await this.#work;
  }

  /** Flushes what an earlier daemon left in its segments. */
  async recover(segments: readonly string[], committed: readonly Committed[]): Promise<void> {
    const left = emptyUnflushed();
    for (const { receipt, snapshot, draft } of committed) {
      left.receiptIds.push(receipt.receipt_id);
      left.snapshots.push(snapshot);
      for (const { oid, bytes } of draft.parts.contents) left.contents.set(oid, bytes);
      for (const { path } of draft.parts.changes) left.paths.add(path);
    }
    await this.#flush(segments.at(-1) ?? '', left);
    for (const segment of segments) this.#options.journal.retire(segment);
  }

  /** Resolves when all is flushed; answers whether it is. To be called at rest. */
  async drain(): Promise<boolean> {
    this.#rotate();
    await this.#work;
    return this.#behind.size === 0;
  }

  #whenDue(): void {
    this.#isDue = true;
    if (!this.#options.isBusy()) this.#rotate();
  }

  #rotate(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#isDue = false;
    if (this.#current.receiptIds.length === 0) return;
    const unflushed = this.#current;
    let segment: string | undefined;
    try {
      segment = this.#options.journal.rotate();
    } catch (error) {
      if (error instanceof StorageFailedError && error.fatal) this.#options.onFatal(error);
      // No room for the next segment, for one: this one goes on, and is tried again with the next change.
      this.#timer = setTimeout(() => this.#whenDue(), idleMs).unref();
      return;
    }
    if (segment === undefined) return;
    this.#behind.set(segment, unflushed);
    this.#current = emptyUnflushed();
    this.#work = this.#work.then(() => this.#finish());
  }

  /** In order, also those that failed before: recovery takes the journal's last receipt for the end of the chain. */
  async #finish(): Promise<void> {
    const { journal, onFatal, onNotice } = this.#options;
    try {
      for (const [segment, unflushed] of this.#behind) {
        await this.#flush(segment, unflushed);
        journal.retire(segment);
        this.#behind.delete(segment);
      }
    } catch (error) {
      if (error instanceof StorageFailedError && error.fatal) onFatal(error);
      else
        onNotice(
          `What the journal holds could not be moved to its place, and stays there: ${error instanceof Error ? error.message : String(error)}`,
        );
    }
  }

  async #flush(segment: string, { receiptIds, snapshots, contents, paths }: Unflushed): Promise<void> {
    const { keeper, store, root, syncTrusted } = this.#options;
    const blobs = [...contents.values()];
    await keeper.flush({ segment, snapshots, blobs });
    // Of a project that was removed nothing is left to be synced.
    const [own, projects = true] = await syncFilesystems(
      existsSync(root) ? [store.folder, root] : [store.folder],
    );
    if (own !== true) await store.sync(receiptIds);
    if (projects !== true) await syncPaths(root, paths);
    await syncTrusted();
  }
}

function emptyUnflushed(): Unflushed {
  return { receiptIds: [], snapshots: [], contents: new Map(), paths: new Set() };
}

/** Makes what is at these paths now survive power loss, and the names in the folders around it. */
async function syncPaths(root: string, paths: ReadonlySet<string>): Promise<void> {
  const folders = new Set<string>();
  for (const path of paths) {
    const name = path.endsWith('/') ? path.slice(0, -1) : path;
    folders.add(parentOf(name));
    await syncPath(systemPath(root, name));
  }
  if (process.platform !== 'win32')
    for (const folder of folders) await syncPath(folder === '' ? root : systemPath(root, folder));
}

async function syncPath(path: string | Buffer): Promise<void> {
  try {
    await using file = await open(path, noFollow);
    await file.sync();
  } catch (error) {
    // Removed, replaced by a link, or made unreadable since: then that is not ours to make durable.
    if (systemErrorCode(error) === 'EIO') throw new StorageFailedError(String(path), true, { cause: error });
  }
}

/** O_RDONLY | O_NOFOLLOW | O_NONBLOCK, where the system has them. */
const noFollow = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
