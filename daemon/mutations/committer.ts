import type { UserId } from '../contract/ids.ts';
import type { Receipt } from '../contract/receipts.ts';
import type { Clock } from '../lib/clock.ts';
import { StorageFailedError } from '../lib/durable-errors.ts';
import { newId } from '../lib/ids.ts';
import type { SealedReceipt } from '../receipts/receipt-format.ts';
import type { ReceiptStore } from '../receipts/receipt-store.ts';
import type { SnapshotRecord } from '../snapshots/entry-state.ts';
import type { Journal } from './journal.ts';
import type { Step } from './mutation-plan.ts';
import { composeReceipt, type Draft, type ReceiptFormat } from './receipt-draft.ts';

export interface CommitterOptions {
  readonly wsId: Receipt['workspace_id'];
  readonly userId: UserId;
  readonly journal: Journal;
  readonly store: Pick<ReceiptStore, 'head' | 'append' | 'writable'>;
  readonly format: ReceiptFormat;
  /** Puts `***` in the place of secrets. */
  readonly mask: (text: string) => string;
  /** Takes the steps of one change; throws having taken none. Its result takes them back. */
  readonly apply: (steps: readonly Step[]) => () => void;
  /** Called before changes are made; its result when they are known to whoever watches the tree. */
  readonly announce: () => Promise<() => void>;
  /** Called in chain order for each change that is complete, before its caller is answered. */
  readonly onCommitted: (committed: Committed) => void;
  /** Called when a batch is complete: nothing of the journal's current segment is under way. */
  readonly onBatchDone: () => void;
  /** The disk failed: nothing may be changed any more. */
  readonly onFatal: (error: Error) => void;
  readonly clock: Clock;
}

export interface Committed {
  readonly receipt: Receipt;
  readonly snapshot: SnapshotRecord;
  readonly draft: Draft;
}

interface Pending {
  readonly draft: Draft;
  readonly resolve: (receipt: Receipt) => void;
  readonly reject: (error: unknown) => void;
}

interface Sealed extends Pending {
  readonly sealed: SealedReceipt;
  readonly snapshot: SnapshotRecord;
  readonly offset: number;
  undo?: () => void;
}

const maxBatch = 256;
const maxBatchBytes = 16 * 1024 * 1024;

/**
 * Puts changes into the chain, one after the other, and makes them: journal → fsync → change → receipt, index, checkpoint
 * → answer. Changes that come while an fsync is under way share the next one.
 */
export class Committer {
  readonly #options: CommitterOptions;
  #queue: Pending[] = [];
  #running: Promise<void> | undefined;
  #broken: Error | undefined;

  constructor(options: CommitterOptions) {
    this.#options = options;
  }

  /** Resolves with the receipt once it and the change are durable. */
  commit(draft: Draft): Promise<Receipt> {
    if (this.#broken !== undefined) return Promise.reject(this.#broken);
    const { promise, resolve, reject } = Promise.withResolvers<Receipt>();
    this.#queue.push({ draft, resolve, reject });
    this.#running ??= this.#run();
    return promise;
  }

  /** The disk failed: what is in the journal may have been neither made nor receipted. */
  get isBroken(): boolean {
    return this.#broken !== undefined;
  }

  /** Whether a batch is under way. */
  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  /** Resolves when nothing is under way. */
  async idle(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  async #run(): Promise<void> {
    // Callers that are let in by the same turn of the loop come into the first batch together.
    await undefined;
    while (this.#queue.length > 0) {
      const batch = this.#takeBatch();
      try {
        await this.#commitBatch(batch);
      } catch (error) {
        this.#break(asError(error), [...batch, ...this.#queue.splice(0)]);
      }
    }
    // In the same turn as the last look at the queue: whoever comes later starts a run of its own.
    this.#running = undefined;
  }

  #takeBatch(): Pending[] {
    let bytes = 0;
    let count = 0;
    for (const { draft } of this.#queue) {
      for (const { bytes: content } of draft.parts.contents) bytes += content.length;
      if (count > 0 && (count >= maxBatch || bytes > maxBatchBytes)) break;
      count += 1;
    }
    return this.#queue.splice(0, count);
  }

  /** Rejects the callers itself where nothing was changed; throws where the disk is not to be trusted any more. */
  async #commitBatch(batch: readonly Pending[]): Promise<void> {
    const { journal, store } = this.#options;
    await store.writable;
    let entries: Sealed[];
    try {
      entries = this.#journal(batch);
    } catch (error) {
      if (isFatal(error)) throw error;
      for (const { reject } of batch) reject(error);
      return;
    }
    await journal.sync();
    const known = await this.#options.announce();
    try {
      this.#makeChanges(entries);
    } finally {
      known();
    }
    this.#options.onBatchDone();
  }

  #makeChanges(entries: readonly Sealed[]): void {
    const failed = this.#applyInOrder(entries);
    const done = failed === undefined ? entries : entries.slice(0, failed.index);
    try {
      this.#options.store.append(done.map(({ sealed }) => sealed));
    } catch (error) {
      for (const { undo } of done.toReversed()) undo?.();
      this.#void(entries);
      for (const { reject } of entries) reject(error);
      if (isFatal(error)) throw error;
      return;
    }
    // A change that was neither made nor taken back stays in the journal: the next daemon makes it whole.
    const isBroken = failed !== undefined && isFatal(failed.error);
    if (failed !== undefined && !isBroken) {
      const [culprit, ...rest] = entries.slice(failed.index);
      this.#void(entries.slice(failed.index));
      culprit?.reject(failed.error);
      this.#queue.unshift(...rest);
    }
    for (const { sealed, snapshot, draft, resolve } of done) {
      this.#options.onCommitted({ receipt: sealed.receipt, snapshot, draft });
      resolve(sealed.receipt);
    }
    if (isBroken) throw failed.error;
  }

  #journal(batch: readonly Pending[]): Sealed[] {
    const { journal, store, format } = this.#options;
    let { count, selfHash } = store.head;
    const sealed = batch.map(({ draft }) => {
      count += 1;
      const snapshot: SnapshotRecord = {
        snapshot_id: newId('snap'),
        run_id: draft.runId,
        seq: count,
        entries: draft.parts.entries,
      };
      const receipt = format.sealReceipt(
        composeReceipt(draft, { ...this.#options, seq: count, prev: selfHash, snapshot }),
      );
      selfHash = receipt.selfHash;
      return { sealed: receipt, snapshot };
    });
    const offsets = journal.append(
      sealed.map((entry, at) => ({
        type: 'mutation',
        receipt: entry.sealed.receipt,
        snapshot: entry.snapshot,
        steps: batch[at]?.draft.steps ?? [],
      })),
    );
    return batch.flatMap((pending, at) => {
      const entry = sealed[at];
      const offset = offsets[at];
      return entry === undefined || offset === undefined ? [] : [{ ...pending, ...entry, offset }];
    });
  }

  #applyInOrder(entries: readonly Sealed[]): { index: number; error: unknown } | undefined {
    for (const [index, entry] of entries.entries()) {
      try {
        entry.undo = this.#options.apply(entry.draft.steps);
      } catch (error) {
        return { index, error };
      }
    }
    return undefined;
  }

  /** Last first: whenever a crash comes between, what is left is the beginning of a chain. */
  #void(entries: readonly Sealed[]): void {
    const { journal } = this.#options;
    for (const { offset, draft } of entries.toReversed()) {
      journal.voidEntry(offset);
      if (draft.intent !== undefined) journal.reopen(draft.intent);
    }
  }

  #break(error: Error, waiting: readonly Pending[]): void {
    this.#broken = error;
    for (const { reject } of waiting) reject(error);
    this.#options.onFatal(error);
  }
}

function isFatal(error: unknown): boolean {
  return error instanceof StorageFailedError && error.fatal;
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
