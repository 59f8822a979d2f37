import { type FSWatcher, lstatSync, mkdirSync, readdirSync, rmSync, watch } from 'node:fs';
import { join } from 'node:path';
import { orNull } from './pinned-folder.ts';

export interface CookieOptions {
  readonly folder: string;
  /** A command is about to start; `atMs` is when, by the clock of the file system. */
  readonly onBegin: (runId: string, atMs: number) => void;
  readonly onFailure: (error: Error) => void;
}

/** A cookie that is not seen within this was lost with events that the system had no room for. */
const patienceMs = 500;

/**
 * Links that are made in a watched folder to know where in the order of events one is: all of a thread's watchers read
 * one queue. Their names: `b-<n>-<run>` begin, `e-<n>-<run>` end.
 */
export class Cookies {
  readonly #options: CookieOptions;
  readonly #watcher: FSWatcher;
  readonly #seen = new Set<string>();
  readonly #lost = new Set<string>();
  readonly #waiting = new Map<string, (isSeen: boolean) => void>();
  #isClosed = false;

  /** Throws where the folder can't be watched. */
  constructor(options: CookieOptions) {
    this.#options = options;
    rmSync(options.folder, { recursive: true, force: true });
    mkdirSync(options.folder, { recursive: true, mode: 0o700 });
    this.#watcher = watch(options.folder, {}, (_, name) => {
      if (name !== null) this.#onEvent(name);
    });
    this.#watcher.on('error', options.onFailure);
  }

  /** Resolves when the cookie has been seen; false where it never will. To be asked once for each. */
  async wait(cookie: string): Promise<boolean> {
    if (this.#seen.delete(cookie)) return true;
    if (this.#isClosed) return false;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    this.#waiting.set(cookie, resolve);
    // Where we were busy all the time, its event may be waiting: that has a turn between the timer and the next.
    const timer = setTimeout(() => setImmediate(resolve, false), patienceMs);
    try {
      const isSeen = await promise;
      if (!isSeen) this.#lost.add(cookie);
      return isSeen;
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(cookie);
    }
  }

  /** When the earliest of the commands began of which nothing was told yet. */
  earliestBeginMs(): number {
    const begins = readdirSync(this.#options.folder).filter((name) => name.startsWith('b-'));
    return Math.min(...begins.map((name) => this.timeOf(name) ?? Number.POSITIVE_INFINITY));
  }

  timeOf(cookie: string): number | undefined {
    return orNull(() => lstatSync(join(this.#options.folder, cookie)))?.ctimeMs;
  }

  close(): void {
    this.#isClosed = true;
    this.#watcher.close();
    for (const resolve of this.#waiting.values()) resolve(false);
  }

  #onEvent(name: string): void {
    const atMs = this.timeOf(name);
    // Its removal is an event as well.
    if (atMs === undefined) return;
    rmSync(join(this.#options.folder, name), { force: true });
    if (this.#lost.delete(name)) return;
    const [kind, , runId = ''] = name.split('-', 3);
    if (kind === 'b') this.#options.onBegin(runId, atMs);
    const waiting = this.#waiting.get(name);
    if (waiting) waiting(true);
    else this.#seen.add(name);
  }
}
