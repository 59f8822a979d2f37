import { CodedError } from '../contract/errors.ts';
import { parseIndexLine } from './index-scan.ts';
import { readIndexLine } from './read-index.ts';
import { seqOfId } from './receipt-catalog.ts';
import type { SealedReceipt } from './receipt-format.ts';
import type { ReceiptStoreOptions } from './receipt-store-options.ts';
import { indexPath, type ReceiptWriter, receiptPath } from './receipt-writer.ts';
import { type RecoveredReceipts, recoverReceipts } from './recover-receipts.ts';
import { readPlainFile } from './store.ts';

export interface ChainEnd {
  readonly count: number;
  /** Of an empty chain, its genesis hash. */
  readonly selfHash: string;
  /** Null for an empty chain, and where the last receipt is lost. */
  readonly receiptId: string | null;
  /** `sha256:…` over INDEX.jsonl as this store wrote it. */
  readonly indexHash: string;
}

export interface PageRequest {
  /** Id of a receipt: the page begins with the one before it. */
  readonly before?: string | undefined;
  readonly limit: number;
  readonly runId?: string | undefined;
}

/**
 * The receipts of one workspace: a file each, INDEX.jsonl and CHECKPOINT. One instance per folder, and every write goes
 * through the mutation door, one batch at a time.
 */
export class ReceiptStore {
  readonly folder: string;
  readonly wsId: string;
  /** For `tallystick verify --key`; null where there is no key. */
  readonly verifierKey: string | null;
  /** What was mended when the store was opened, in sentences; none of it is tampering. */
  readonly repairs: readonly string[];
  /**
   * Why the folder is not what the daemon wrote, as far as opening it shows; null where it is. The store goes on from the
   * head that the daemon vouches for, so the damage stays visible to every verifier.
   */
  readonly damage: string | null;
  readonly #writer: ReceiptWriter;
  #held: Promise<void> = Promise.resolve();

  private constructor(options: ReceiptStoreOptions, { writer, repairs, damage }: RecoveredReceipts) {
    this.folder = options.folder;
    this.wsId = options.wsId;
    this.verifierKey = options.signingKey.verifierKey;
    this.repairs = repairs;
    this.damage = damage.length === 0 ? null : damage.join(' ');
    this.#writer = writer;
  }

  /**
   * Opens the folder, or makes it, and brings it to where the daemon left it. `onNotice` is told of every repair and of
   * damage; neither keeps it from opening.
   *
   * @throws StorageFullError, StorageFailedError
   */
  static async open(options: ReceiptStoreOptions): Promise<ReceiptStore> {
    const recovered = await recoverReceipts(options);
    const { repairs, damage } = recovered;
    if (repairs.length > 0)
      options.onNotice(`Receipts in ${options.folder} were mended after a crash. ${repairs.join(' ')}`);
    if (damage.length > 0)
      options.onNotice(`Receipts in ${options.folder} were tampered with or lost. ${damage.join(' ')}`);
    return new ReceiptStore(options, recovered);
  }

  /** The end of the chain as this store wrote it; what stands on the disk is compared with it. */
  get head(): ChainEnd {
    return { ...this.#writer.end, indexHash: this.#writer.indexHash };
  }

  /** Receipts that the daemon's newest CHECKPOINT covers: fewer than all where its key can't be had. */
  get signedCount(): number {
    return this.#writer.signedCount;
  }

  /**
   * Asks for a pause: who appends waits for `writable` first. For the moment in which a verification takes in what the
   * folder holds. Dispose it to let the writers go on.
   */
  hold(): Disposable {
    const released = Promise.withResolvers<void>();
    const before = this.#held;
    this.#held = Promise.all([before, released.promise]).then(() => undefined);
    return { [Symbol.dispose]: () => released.resolve() };
  }

  /** Resolves when nobody asks the writers to pause. */
  get writable(): Promise<void> {
    return this.#held;
  }

  /**
   * Adds receipts to the chain, in order: their files, their index lines in one write, CHECKPOINT. All of it is in the
   * page cache when this returns; `sync` makes it durable. The first must follow `head`. Receipts that are there already
   * may be given again, in front: a failed batch can simply be repeated.
   *
   * @throws StorageFullError, StorageFailedError; Error where the batch would fork the chain, and nothing was written
   */
  append(batch: readonly SealedReceipt[]): void {
    this.#writer.append(batch);
  }

  /**
   * Makes these receipts, INDEX.jsonl, CHECKPOINT and their names survive power loss.
   *
   * @throws StorageFailedError, fatal where an fsync failed
   */
  async sync(receiptIds: readonly string[]): Promise<void> {
    await this.#writer.sync(receiptIds);
  }

  /** The bytes of a receipt's file as they are now; null where the chain has no such receipt or its file is gone. */
  async read(receiptId: string): Promise<Buffer | null> {
    if (this.seqOf(receiptId) === null) return null;
    return readPlainFile(receiptPath(this.folder, receiptId));
  }

  /** Oldest first; empty for an unknown run. */
  async receiptsOfRun(runId: string): Promise<string[]> {
    const { ids } = await this.page({ limit: Number.POSITIVE_INFINITY, runId });
    return ids.reverse();
  }

  /**
   * Newest first. `next` is the `before` of the next page; null on the last.
   *
   * @throws CodedError unknown_receipt, where `before` is not in the chain
   */
  async page({ before, limit, runId }: PageRequest): Promise<{ ids: string[]; next: string | null }> {
    const ids: string[] = [];
    for await (const receiptId of this.#newestFirst(before, runId)) {
      if (ids.length === limit) return { ids, next: ids.at(-1) ?? null };
      ids.push(receiptId);
    }
    return { ids, next: null };
  }

  /** The line as it stands on the disk now, with its line feed; null where there is none. */
  async indexLine(seq: number): Promise<string | null> {
    const row = this.#writer.catalog.rowOfSeq(seq);
    return row === undefined ? null : this.#lineAt(row);
  }

  /** Null for what is not in the chain. */
  seqOf(receiptId: string): number | null {
    return this.#writer.catalog.rowOf(receiptId) === undefined ? null : seqOfId(receiptId);
  }

  /** Null past the end. */
  idOf(seq: number): string | null {
    const { catalog } = this.#writer;
    const row = catalog.rowOfSeq(seq);
    return row === undefined ? null : catalog.idAt(row);
  }

  async *#newestFirst(before: string | undefined, runId: string | undefined): AsyncGenerator<string> {
    const { catalog } = this.#writer;
    const below = before === undefined ? catalog.count : catalog.rowOf(before);
    if (below === undefined)
      throw new CodedError('unknown_receipt', `No receipt ${before} is in this workspace's chain.`);
    const rows = runId === undefined ? downFrom(below) : catalog.rowsOfRun(runId, below);
    for (const row of rows) {
      const receiptId = catalog.idAt(row);
      if (receiptId === null) continue;
      if (runId === undefined || (await this.#isOfRun(row, runId))) yield receiptId;
    }
  }

  /** A line that was altered since says nothing: then the receipt stays with the run that it was written for. */
  async #isOfRun(row: number, runId: string): Promise<boolean> {
    const entry = parseIndexLine((await this.#lineAt(row)) ?? '');
    return entry === undefined || entry.receiptId !== this.#writer.catalog.idAt(row) || entry.runId === runId;
  }

  #lineAt(row: number): Promise<string | null> {
    return readIndexLine(indexPath(this.folder), this.#writer.catalog.extentOf(row));
  }
}

function* downFrom(below: number): Generator<number> {
  for (let row = below - 1; row >= 0; row -= 1) yield row;
}
