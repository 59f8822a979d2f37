import { lstatSync, readFileSync } from 'node:fs';
import type { Dirty } from './baseline.ts';
import { Cookies } from './cookies.ts';
import { identityOf, orNull, type PinnedFolder } from './pinned-folder.ts';
import { isSkippedName } from './skipped-paths.ts';
import { TreeWatch } from './tree-watch.ts';

export interface ChangeFeedOptions {
  readonly root: string;
  readonly cookieFolder: string;
  /** Events that the system queues; null: it is asked. */
  readonly maxQueuedEvents: number | null;
  /** Null: no limit of ours. */
  readonly maxWatchedFolders: number | null;
  readonly isIgnoredFolder: (path: string) => boolean;
  /** A command is about to start; all that is dirty now was so before. */
  readonly onBegin: (runId: string, atMs: number) => void;
  /** Some time after something became dirty: once, until `take`. */
  readonly onDirty: () => void;
  /** From now on everything may be dirty at any time. */
  readonly onLost: (reason: string) => void;
}

const foldAfterMs = 50;
/** Of more than this a scan of the whole tree is cheaper than to remember them. */
const maxPaths = 100_000;
const usualQueuedEvents = 16_384;

/** What became dirty since it was last taken, by watching the tree; everything where it can't be watched. */
export class ChangeFeed {
  readonly #options: ChangeFeedOptions;
  readonly #maxEvents: number;
  #paths = new Map<string, boolean>();
  /** Dirty before a command began, and maybe no more since: an event that comes for one of them is the command's. */
  #suspects = new Set<string>();
  #watch: TreeWatch | undefined;
  #cookies: Cookies | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isIncomplete = false;

  constructor(options: ChangeFeedOptions) {
    this.#options = options;
    this.#maxEvents = (options.maxQueuedEvents ?? queuedEvents()) / 2;
    if (process.platform !== 'linux' || options.maxWatchedFolders === 0) return;
    const { root, isIgnoredFolder: isIgnored, onBegin } = options;
    try {
      this.#cookies = new Cookies({
        folder: options.cookieFolder,
        onBegin,
        onFailure: (error) => this.#lose(error),
      });
      this.#watch = new TreeWatch({
        root,
        maxFolders: options.maxWatchedFolders ?? Number.POSITIVE_INFINITY,
        isSkipped: isSkippedName,
        isIgnored,
        onDirty: (path, deep) => this.#mark(path, deep),
        onFailure: (error) => this.#lose(error),
      });
    } catch (error) {
      this.#lose(error);
    }
  }

  get isWatching(): boolean {
    return this.#watch !== undefined;
  }

  /** Watches a folder from now on; it is about to be read. */
  readonly onFolder = (path: string, folder: PinnedFolder): void => {
    this.#watch?.add(path, folder);
  };

  /** What is dirty, and is so no more. `restore` it if it could not be looked at. */
  take(): Dirty {
    const paths = this.#paths;
    const all = this.#mayMiss();
    if (all) this.#suspects = new Set();
    this.#paths = new Map();
    this.#isIncomplete = false;
    this.#watch?.resetCount();
    return { all, paths };
  }

  restore({ all, paths }: Dirty): void {
    this.#isIncomplete ||= all;
    for (const [path, deep] of paths) this.#paths.set(path, deep || this.#paths.get(path) === true);
  }

  suspect(path: string): void {
    this.#suspects.add(path);
  }

  takeSuspects(): Set<string> {
    const suspects = this.#suspects;
    this.#suspects = new Set();
    return suspects;
  }

  /** Something may have been missed: everything is dirty. */
  distrust(): void {
    this.#isIncomplete = true;
  }

  /** Whether all that was done before the cookie is marked; false where one can't know. To be asked once for each. */
  async reach(cookie: string | null): Promise<boolean> {
    return cookie !== null && this.#cookies !== undefined && (await this.#cookies.wait(cookie));
  }

  timeOf(cookie: string | null): number | undefined {
    return cookie === null ? undefined : this.#cookies?.timeOf(cookie);
  }

  /** When the earliest command began that was not told of yet. */
  earliestBeginMs(): number {
    return this.#cookies?.earliestBeginMs() ?? Number.POSITIVE_INFINITY;
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#watch?.close();
    this.#cookies?.close();
  }

  #mark(path: string, deep: boolean): void {
    this.#suspects.delete(path);
    this.#paths.set(path, deep || this.#paths.get(path) === true);
    if (this.#paths.size > maxPaths) {
      this.#paths.clear();
      this.distrust();
    }
    this.#timer ??= setTimeout(() => this.#onTimer(), foldAfterMs);
  }

  #onTimer(): void {
    this.#timer = undefined;
    this.#options.onDirty();
  }

  /**
   * The system drops events where its queue is full, and Node does not pass on that it did. But that takes as many
   * events as the queue has places, which are then all read at one go: where not half as many came, none was lost.
   */
  #mayMiss(): boolean {
    if (!this.#watch || this.#isIncomplete || this.#watch.events > this.#maxEvents) return true;
    const root = orNull(() => lstatSync(this.#options.root));
    return root === null || identityOf(root) !== this.#watch.identityOf('');
  }

  #lose(error: unknown): void {
    this.#watch?.close();
    this.#cookies?.close();
    this.#watch = undefined;
    this.#options.onLost(error instanceof Error ? error.message : String(error));
  }
}

function queuedEvents(): number {
  try {
    return Number(readFileSync('/proc/sys/fs/inotify/max_queued_events', 'utf8')) || usualQueuedEvents;
  } catch {
    return usualQueuedEvents;
  }
}
