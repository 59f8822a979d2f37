import { Low } from 'lowdb';
import { StorageClosedError, StorageFailedError } from './durable-errors.ts';
import type { DurableFs } from './durable-fs.ts';
import type { SetAside } from './durable-json-adapter.ts';
import { DurableJsonAdapter } from './durable-json-adapter.ts';

export interface DurableJsonOptions<T> {
  path: string;
  /** Validates what the file holds; throws where it is not a T, which sets the file aside. */
  parse: (raw: unknown) => T;
  /** The value where there is no file, or a broken one; not written before the first update. */
  initial: () => T;
  onSetAside?: (info: SetAside) => void;
  /** Told once, when an fsync or the device failed: the daemon must stop taking changes and restart. */
  onFatal?: (error: StorageFailedError) => void;
  /** How long a lazy change may stay in memory alone; 30,000 if not given. */
  flushAfterMs?: number;
  fs?: DurableFs;
}

/**
 * Opens the JSON file at `path` as a durable value. The caller holds the data folder's lock.
 *
 * A file that does not parse is renamed to `<name>.broken-<time>` and reported through `onSetAside`, and the
 * value starts from `initial()`. A file that can't be read or set aside makes this throw, and stays as it is.
 */
export async function openDurableJson<T extends object>(
  options: DurableJsonOptions<T>,
): Promise<DurableJson<T>> {
  const low = new Low<T>(new DurableJsonAdapter(options), options.initial());
  await low.read();
  return new DurableJson(low, options);
}

/** Takes the current value, unchanged, and answers the next one and what its caller is to be told. */
export type Change<T, R> = (value: T) => { next: T; result: R };

/** A value that is on disk whenever it can be seen, but for lazy changes. Made by `openDurableJson`. */
export class DurableJson<T extends object> implements AsyncDisposable {
  readonly #low: Low<T>;
  readonly #flushAfterMs: number;
  readonly #onFatal: ((error: StorageFailedError) => void) | undefined;
  /** What is on disk, with the lazy changes made since on top. */
  #value: T;
  /** Lazy changes that `#value` shows and no finished write holds. */
  #lazy: Array<(value: T) => T> = [];
  #queue: Queued<T>[] = [];
  /** The loop that writes batches, while there are any: the one place that writes the file. */
  #writing: Promise<void> | undefined;
  #flushTimer: NodeJS.Timeout | undefined;
  /** Why no further update is taken. */
  #refusal: Error | undefined;
  #closing: Promise<void> | undefined;

  constructor(low: Low<T>, options: Pick<DurableJsonOptions<T>, 'flushAfterMs' | 'onFatal'>) {
    this.#low = low;
    this.#value = low.data;
    this.#flushAfterMs = options.flushAfterMs ?? 30_000;
    this.#onFatal = options.onFatal;
  }

  /** The durable value with the lazy changes on top. Never to be changed in place. */
  get value(): T {
    return this.#value;
  }

  /**
   * Applies `change` and resolves with its result once the new value is durable. Changes are applied in the
   * order of the calls; those that arrive while a write is under way share the next one. A `change` that
   * throws rejects its own caller alone. Where the write fails, with `StorageFullError` or
   * `StorageFailedError`, every change in it is dropped and its caller rejected; after a fatal failure every
   * later update is rejected with it, too.
   */
  update<R>(change: Change<T, R>): Promise<R> {
    if (this.#refusal) return Promise.reject(this.#refusal);
    return new Promise<R>((resolve, reject) => {
      this.#queue.push({
        apply: (value) => {
          const { next, result } = change(value);
          return { next, settle: () => resolve(result) };
        },
        reject,
      });
      this.#startWriting();
    });
  }

  /**
   * Applies `change` in memory at once; it reaches the disk with the next write, or by itself after
   * `flushAfterMs`, or on dispose. For what may be lost in a crash, such as last-used times. `change` may be
   * applied again on top of an update that was under way, and is dropped if it then throws. Does nothing once
   * the store is closed or has failed.
   */
  updateLazily(change: (value: T) => T): void {
    if (this.#refusal) return;
    const next = change(this.#value);
    if (next === this.#value) return;
    this.#value = next;
    this.#lazy.push(change);
    this.#flushLater();
  }

  /** Takes no more updates, finishes those under way and writes the lazy changes. Rejects if that fails. */
  [Symbol.asyncDispose](): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const refusedBefore = this.#refusal;
    this.#refusal ??= new StorageClosedError();
    clearTimeout(this.#flushTimer);
    await this.#writing;
    if (!refusedBefore && !(this.#refusal instanceof StorageFailedError)) await this.#writeBatch([]);
  }

  #startWriting(): void {
    this.#writing ??= this.#writeQueued();
  }

  async #writeQueued(): Promise<void> {
    // Calls made in the same turn of the event loop share the first write.
    await Promise.resolve();
    while (this.#queue.length > 0) {
      const batch = this.#queue;
      this.#queue = [];
      try {
        await this.#writeBatch(batch);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    // Here and not when the promise has settled: an update that came in between would wait for nobody.
    this.#writing = undefined;
  }

  /** Writes the changes of `batch` and the lazy ones, shows them, and settles their callers; or throws. */
  async #writeBatch(batch: Queued<T>[]): Promise<void> {
    if (this.#refusal instanceof StorageFailedError) throw this.#refusal;
    const { next, settles } = applyInOrder(this.#value, batch);
    const changed = next !== this.#value || this.#lazy.length > 0;
    if (changed) await this.#write(next);
    for (const settle of settles) settle();
  }

  async #write(next: T): Promise<void> {
    const written = this.#lazy;
    this.#lazy = [];
    clearTimeout(this.#flushTimer);
    this.#flushTimer = undefined;
    this.#low.data = next;
    try {
      await this.#low.write();
    } catch (error) {
      this.#lazy = [...written, ...this.#lazy];
      this.#failed(error);
      throw error;
    }
    const { value, kept } = reapply(next, this.#lazy);
    this.#value = value;
    this.#lazy = kept;
  }

  #failed(error: unknown): void {
    if (error instanceof StorageFailedError && error.fatal) {
      this.#refusal = error;
      this.#onFatal?.(error);
    } else if (this.#lazy.length > 0) this.#flushLater();
  }

  #flushLater(): void {
    if (this.#refusal || this.#flushTimer) return;
    this.#flushTimer = setTimeout(() => {
      this.#flushTimer = undefined;
      // A change that changes nothing: what there is to write are the lazy ones. If the disk is full they
      // stay in memory and the next flush tries again; a fatal failure has been told to onFatal.
      this.update((value) => ({ next: value, result: undefined })).catch(() => undefined);
    }, this.#flushAfterMs);
    this.#flushTimer.unref();
  }
}

interface Queued<T> {
  apply: (value: T) => { next: T; settle: () => void };
  reject: (reason: unknown) => void;
}

function applyInOrder<T>(value: T, batch: Queued<T>[]): { next: T; settles: (() => void)[] } {
  let next = value;
  const settles: (() => void)[] = [];
  for (const { apply, reject } of batch) {
    try {
      const applied = apply(next);
      next = applied.next;
      settles.push(applied.settle);
    } catch (error) {
      reject(error);
    }
  }
  return { next, settles };
}

/** Puts lazy changes made during a write on top of what was written; one whose subject has gone is dropped. */
function reapply<T>(written: T, lazy: Array<(value: T) => T>): { value: T; kept: Array<(value: T) => T> } {
  let value = written;
  const kept: Array<(value: T) => T> = [];
  for (const change of lazy) {
    try {
      const next = change(value);
      if (next !== value) kept.push(change);
      value = next;
    } catch {
      // What it was about is gone with the update that has just become durable: nothing is left to record.
    }
  }
  return { value, kept };
}
