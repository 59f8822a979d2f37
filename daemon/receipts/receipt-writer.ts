import type { Hash } from 'node:crypto';
import { join } from 'node:path';
import { syncFolderOf } from '../lib/durable-file.ts';
import { formatCheckpoint } from './checkpoint-note.ts';
import type { ScannedIndex } from './index-scan.ts';
import type { ReceiptCatalog } from './receipt-catalog.ts';
import { genesisHash, type SealedReceipt } from './receipt-format.ts';
import type { ReceiptStoreOptions } from './receipt-store-options.ts';
import {
  type DiskCalls,
  ensureFile,
  removeQuietly,
  syncFile,
  systemDisk,
  writeEnd,
  writeSmallFile,
} from './store.ts';

/** The last receipt of a chain; of an empty one, its genesis hash. */
export interface ChainTip {
  readonly count: number;
  readonly selfHash: string;
  readonly receiptId: string | null;
}

export const receiptPath = (folder: string, receiptId: string) => join(folder, `${receiptId}.json`);
export const indexPath = (folder: string) => join(folder, 'INDEX.jsonl');
export const checkpointPath = (folder: string) => join(folder, 'CHECKPOINT');

/** The writing half of the receipt store: the end of the chain, in memory and on the disk. */
export class ReceiptWriter {
  readonly catalog: ReceiptCatalog;
  readonly #options: ReceiptStoreOptions;
  readonly #disk: DiskCalls;
  #digest: Hash;
  #end: ChainTip;
  #signedCount = 0;
  /** A write to the index failed, and part of it may still be there. */
  #indexTorn = false;

  constructor(options: ReceiptStoreOptions, { catalog, digest, lastHash }: ScannedIndex) {
    this.catalog = catalog;
    this.#options = options;
    this.#disk = options.disk ?? systemDisk;
    this.#digest = digest;
    const receiptId = catalog.idAt(catalog.count - 1);
    this.#end = { count: catalog.count, selfHash: lastHash ?? genesisHash(options.wsId), receiptId };
  }

  get end(): ChainTip {
    return this.#end;
  }

  /** Over INDEX.jsonl as it was written. */
  get indexHash(): string {
    return `sha256:${this.#digest.copy().digest('hex')}`;
  }

  /** The chain goes on from here, whatever the index says: the daemon knows better than its folder. */
  goOnFrom(end: ChainTip): void {
    this.#end = end;
  }

  /** See `ReceiptStore.append`. Answers the ids of receipts in whose place other bytes stood. */
  append(batch: readonly SealedReceipt[]): string[] {
    const added = new Set(this.#newOnesOf(batch));
    const before = { count: this.catalog.count, digest: this.#digest, end: this.#end };
    const written: string[] = [];
    const replaced: string[] = [];
    try {
      for (const sealed of batch) {
        const path = receiptPath(this.#options.folder, sealed.receipt.receipt_id);
        const outcome = ensureFile(path, sealed.bytes, this.#disk);
        if (outcome === 'written' && added.has(sealed)) written.push(path);
        if (outcome === 'replaced') replaced.push(sealed.receipt.receipt_id);
      }
      this.#appendToIndex([...added]);
      this.writeCheckpoint();
    } catch (error) {
      this.#takeBack(before, written);
      throw error;
    }
    this.#tellTrusted();
    return replaced;
  }

  /** Receipts that the CHECKPOINT which was written, or found, last covers. */
  get signedCount(): number {
    return this.#signedCount;
  }

  /** What recovery found there, signed by the daemon. */
  foundCheckpoint(count: number): void {
    this.#signedCount = count;
  }

  /** Where the key can't be had, the old checkpoint stays: it is true as far as it goes. */
  writeCheckpoint(): void {
    const { folder, wsId, signingKey } = this.#options;
    if (signingKey.signer === null && signingKey.verifierKey !== null) return;
    const { count, selfHash: head } = this.#end;
    const note = formatCheckpoint({ wsId, count, head, indexHash: this.indexHash }, signingKey.signer);
    writeSmallFile(checkpointPath(folder), Buffer.from(note), this.#disk);
    this.#signedCount = count;
  }

  /** See `ReceiptStore.sync`. */
  async sync(receiptIds: readonly string[]): Promise<void> {
    const { folder, onNotice } = this.#options;
    const paths = receiptIds.map((receiptId) => receiptPath(folder, receiptId));
    paths.push(indexPath(folder));
    if (this.#signedCount > 0) paths.push(checkpointPath(folder));
    const gone: string[] = [];
    await eachAtOnce(syncsAtOnce, paths, async (path) => {
      if (!(await syncFile(path, this.#disk))) gone.push(path);
    });
    await syncFolderOf(indexPath(folder));
    if (gone.length > 0) onNotice(`Something removed what the daemon had just written: ${gone.join(', ')}`);
  }

  /** @throws Error where the batch does not follow the end: the caller has forked the chain */
  #newOnesOf(batch: readonly SealedReceipt[]): SealedReceipt[] {
    let { count, selfHash } = this.#end;
    const added: SealedReceipt[] = [];
    for (const sealed of batch) {
      const { receipt_id, seq, prev_receipt_hash, workspace_id } = sealed.receipt;
      if (added.length === 0 && this.catalog.rowOf(receipt_id) !== undefined) continue;
      if (seq !== count + 1 || prev_receipt_hash !== selfHash || workspace_id !== this.#options.wsId)
        throw new Error(`Receipt ${receipt_id} does not follow the chain's receipt number ${count}.`);
      added.push(sealed);
      count = seq;
      selfHash = sealed.selfHash;
    }
    return added;
  }

  #appendToIndex(added: readonly SealedReceipt[]): void {
    const last = added.at(-1);
    if (last === undefined) return;
    const bytes = Buffer.from(added.map(({ indexLine }) => indexLine).join(''));
    const torn = this.#indexTorn;
    const { endOffset } = this.catalog;
    const found = this.#writeIndexEnd(bytes);
    if (found !== endOffset && !torn)
      this.#options.onNotice(
        `The index of ${this.#options.folder} was changed while the daemon ran: it had ${found} bytes, not ${endOffset}.`,
      );
    this.#digest = this.#digest.copy().update(bytes);
    for (const { receipt, indexLine } of added)
      this.catalog.add({
        receiptId: receipt.receipt_id,
        runId: receipt.run_id,
        bytes: Buffer.byteLength(indexLine),
      });
    this.#end = { count: last.receipt.seq, selfHash: last.selfHash, receiptId: last.receipt.receipt_id };
  }

  #writeIndexEnd(bytes: Uint8Array): number {
    this.#indexTorn = true;
    const found = writeEnd(indexPath(this.#options.folder), this.catalog.endOffset, bytes, this.#disk);
    this.#indexTorn = false;
    return found;
  }

  /** The caller takes its changes back: no receipt of them may stay. */
  #takeBack(before: { count: number; digest: Hash; end: ChainTip }, written: readonly string[]): void {
    const indexed = this.catalog.count > before.count;
    this.catalog.truncate(before.count);
    this.#digest = before.digest;
    this.#end = before.end;
    for (const path of written) removeQuietly(path);
    if (!indexed) return;
    try {
      this.#writeIndexEnd(new Uint8Array());
    } catch {
      // The first failure is the one to report; the next write begins where this one would have cut.
    }
  }

  /** Receipts that recovery indexes again one batch at a time must not lower what the daemon knows. */
  #tellTrusted(): void {
    const { trusted } = this.#options;
    const { count, selfHash: head } = this.#end;
    if (count > (trusted.get()?.count ?? 0)) trusted.set({ count, head });
  }
}

/** As many as the thread pool has threads would keep file reads of others waiting. */
const syncsAtOnce = 3;

async function eachAtOnce<T>(atOnce: number, items: readonly T[], work: (item: T) => Promise<void>) {
  const queue = items.values();
  const workers = Array.from({ length: Math.min(atOnce, items.length) }, async () => {
    for (const item of queue) await work(item);
  });
  const settled = await Promise.allSettled(workers);
  for (const result of settled) if (result.status === 'rejected') throw result.reason;
}
