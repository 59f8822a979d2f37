import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from '../lib/logger.ts';
import type { SnapshotRecord, TreeChange } from './entry-state.ts';
import type { Content, KeeperNotice, RunChanges, SnapshotLimits } from './tree-calls.ts';
import { cookieFolder } from './tree-calls.ts';
import { type StartWorker, startTreeWorker, TreeThread } from './tree-thread.ts';

export interface TreeKeeperOptions {
  /** The workspace; a real path. */
  readonly root: string;
  /** Where objects, ring and baseline are kept; made where it is missing. */
  readonly folder: string;
  readonly logger: Logger;
  readonly onNotice: (notice: KeeperNotice) => void;
  readonly limits?: SnapshotLimits;
  /**
   * Runs that were under way when the daemon died. What differs from the baseline it left is theirs: ask for it with
   * `end`. Without a saved baseline there is nothing to tell.
   */
  readonly interrupted?: readonly string[];
  /** Events that the system queues for a watcher; read from the system where not given. */
  readonly maxQueuedEvents?: number;
  /** Of more folders than this the tree is scanned instead of watched; 0 turns watching off. */
  readonly maxWatchedFolders?: number;
  readonly startWorker?: StartWorker;
}

export interface FlushRequest {
  /** Journal segment that the records come from; for the log. */
  readonly segment?: string;
  readonly snapshots: readonly SnapshotRecord[];
  /** Contents that the snapshots name and that may not be stored yet. */
  readonly blobs: readonly Uint8Array[];
}

export const defaultSnapshotLimits: SnapshotLimits = { maxCount: 200, maxBytes: 1024 * 1024 * 1024 };

/**
 * Knows the state of a workspace's tree (the baseline), tells what a command changed, and keeps the contents that
 * undo needs. All of its work is done in a worker thread; docs/snapshots.md describes its folder.
 *
 * Calls fail with `StorageFullError` or `StorageFailedError`, as durable writes do; also while the worker is
 * replaced after it died. A failed `end` leaves the baseline where it was: the changes are handed out by the next.
 */
export class TreeKeeper implements AsyncDisposable {
  readonly #folder: string;
  readonly #logger: Logger;
  readonly #thread: TreeThread;
  readonly #announced = new Set<Promise<void>>();
  readonly #looks = new Set<Promise<RunChanges>>();
  #cookies = 0;

  static open(options: TreeKeeperOptions): TreeKeeper {
    return new TreeKeeper(options);
  }

  private constructor(options: TreeKeeperOptions) {
    this.#folder = options.folder;
    this.#logger = options.logger;
    this.#thread = new TreeThread({
      data: {
        root: options.root,
        folder: options.folder,
        limits: options.limits ?? defaultSnapshotLimits,
        interrupted: options.interrupted ?? [],
        maxQueuedEvents: options.maxQueuedEvents ?? null,
        maxWatchedFolders: options.maxWatchedFolders ?? null,
      },
      logger: options.logger,
      onNotice: options.onNotice,
      startWorker: options.startWorker ?? startTreeWorker,
    });
  }

  /** Resolves when the baseline is known; rejects where the worker can't get there. */
  get ready(): Promise<void> {
    return this.#thread.ready;
  }

  /** Whether changes are watched for; else every `begin` and `end` scans the tree. */
  get watching(): boolean {
    return this.#thread.watching;
  }

  /**
   * To be called right before a command's process starts. Where it answers a promise, the command has to wait for it;
   * with a watcher there is none, and the call takes microseconds.
   */
  begin(runId: string): Promise<void> | undefined {
    this.#thread.running.add(runId);
    if (!this.#thread.isReady) return this.ready.then(() => this.#begin(runId));
    return this.#begin(runId);
  }

  /**
   * Everything that differs from the baseline now; the baseline moves on, so each change is handed out once. Where two
   * runs are under way at once, the first to end gets what is there.
   */
  async end(runId: string): Promise<RunChanges> {
    await this.ready;
    while (this.#announced.size > 0) await Promise.all(this.#announced);
    const look = this.#thread.call('end', runId, this.#leaveCookie('e', runId));
    this.#looks.add(look);
    try {
      const changes = await look;
      this.#thread.running.delete(runId);
      return changes;
    } finally {
      this.#looks.delete(look);
    }
  }

  /** Of a command that never started: like `end`, but what differs stays for others. */
  async cancel(runId: string): Promise<void> {
    this.#thread.running.delete(runId);
    await this.#thread.call('cancel', runId);
  }

  /**
   * To be called before the door writes to the tree itself, which may begin when it resolves; what is answered, after its
   * `note`, or where nothing was written. In between no `end` looks at the tree, and none is about to: else it would take
   * the door's write for the command's.
   */
  async announce(): Promise<() => void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#announced.add(promise);
    while (this.#looks.size > 0) await Promise.allSettled(this.#looks);
    return () => {
      this.#announced.delete(promise);
      resolve();
    };
  }

  /**
   * The door has made these changes: the baseline of their paths becomes `after`. What a path differed from `before`
   * while a command was under way is the command's, and handed out by the next `end`. `contents`: of the states
   * before, and after, as far as they are at hand. (They are copied.)
   */
  async note(changes: readonly TreeChange[], contents: readonly Content[]): Promise<void> {
    await this.#thread.call(
      'note',
      changes,
      contents.map(({ oid, bytes }) => ({ oid, bytes: ownBytes(bytes) })),
    );
  }

  /** Keeps contents; answers their ids. Durable when resolved. */
  store(blobs: readonly Uint8Array[]): Promise<string[]> {
    return this.#thread.call('store', blobs.map(ownBytes));
  }

  /** Null where the content is not, or no longer, kept. */
  async read(oid: string): Promise<Buffer | null> {
    const bytes = await this.#thread.call('read', oid);
    return bytes && Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  has(oid: string): Promise<boolean> {
    return this.#thread.call('has', oid);
  }

  /** Makes snapshots and contents durable, and drops the oldest snapshots where there are more than the limits allow. */
  async flush({ segment, snapshots, blobs }: FlushRequest): Promise<void> {
    await this.#thread.call('flush', snapshots, blobs.map(ownBytes));
    this.#logger.debug({ segment, snapshots: snapshots.length, blobs: blobs.length }, 'snapshots stored');
  }

  /** Null where there is none of that id, or it was pruned. */
  snapshot(snapshotId: string): Promise<SnapshotRecord | null> {
    return this.#thread.call('snapshot', snapshotId);
  }

  /** Saves the baseline, so that the next opening has only to compare it with the tree, and ends the worker. */
  close(): Promise<void> {
    return this.#thread.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #begin(runId: string): Promise<void> | undefined {
    const cookie = this.#leaveCookie('b', runId);
    const begun = this.#thread.call('begin', runId, cookie);
    if (cookie === null) return begun;
    // The command doesn't wait for it: should the worker die now, the run is among those it left.
    begun.catch((error: unknown) =>
      this.#logger.debug({ err: error, runId }, 'run begun without its worker'),
    );
    return undefined;
  }

  /**
   * The watcher sees the cookie after all that was done to the tree before it. Null where there is no watcher, or no
   * cookie could be left: then the worker scans the whole tree.
   */
  #leaveCookie(kind: 'b' | 'e', runId: string): string | null {
    if (!this.#thread.watching) return null;
    const cookie = `${kind}-${++this.#cookies}-${runId}`;
    try {
      // Of all that shows up in a folder, a link is the cheapest to make: one call, no descriptor.
      symlinkSync('.', join(this.#folder, cookieFolder, cookie));
      return cookie;
    } catch (error) {
      this.#logger.debug({ err: error }, 'no cookie could be left for the watcher');
      return null;
    }
  }
}

/** The bytes without the pool they may be a part of, which a message to the worker would copy along. */
function ownBytes(bytes: Uint8Array): Uint8Array {
  return bytes.byteLength === bytes.buffer.byteLength ? bytes : Uint8Array.from(bytes);
}
