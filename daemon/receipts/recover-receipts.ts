import { truncate } from 'node:fs/promises';
import { makeFolderDurably } from '../lib/durable-folder.ts';
import { adoptReceipts } from './adopt-receipts.ts';
import { parseCheckpoint, verifyCheckpoint } from './checkpoint-note.ts';
import { surveyFolder } from './folder-survey.ts';
import { scanIndex } from './index-scan.ts';
import { readIndexLine } from './read-index.ts';
import type { SealedReceipt } from './receipt-format.ts';
import type { ReceiptStoreOptions } from './receipt-store-options.ts';
import { checkpointPath, indexPath, ReceiptWriter } from './receipt-writer.ts';
import { readPlainFile } from './store.ts';

export interface RecoveredReceipts {
  readonly writer: ReceiptWriter;
  /** What a crash had left undone and was mended. */
  readonly repairs: readonly string[];
  /** In what the folder differs from what the daemon wrote. */
  readonly damage: readonly string[];
}

/**
 * Brings the folder to where the daemon left it: cuts a torn index line, writes what the journal holds, indexes receipts
 * that lost their line. Nothing is taken into the chain that the journal, the daemon's own copy of the checkpoint or a
 * CHECKPOINT that its key signed does not vouch for: a forged receipt behind the end is none. What is lost stays lost,
 * and the chain goes on behind the gap.
 */
export async function recoverReceipts(options: ReceiptStoreOptions): Promise<RecoveredReceipts> {
  const { folder, pending = [] } = options;
  const repairs: string[] = [];
  await makeFolderDurably(folder);
  const writer = await openWriter(options, pending, repairs);
  replay(writer, pending, repairs);
  const survey = await surveyFolder(folder, writer.catalog);
  if (survey.removedTemps > 0) repairs.push(`Temporary files were removed: ${survey.removedTemps}.`);
  const damage = await settle(options, { writer, beyond: survey.beyond, repairs });
  if (damage.length === 0) await mendCheckpoint(options, { writer, repairs, damage });
  if (survey.missing !== null)
    damage.push(
      `Receipts without their file: ${survey.missing.count}, the first is ${survey.missing.first}.`,
    );
  return { writer, repairs, damage };
}

/** The index is cut where the journal knows better: of lines that were not yet synced, a crash may leave anything. */
async function openWriter(
  options: ReceiptStoreOptions,
  pending: readonly SealedReceipt[],
  repairs: string[],
): Promise<ReceiptWriter> {
  const path = indexPath(options.folder);
  let scanned = await scanIndex(path);
  const { catalog } = scanned;
  if (scanned.tornBytes > 0) {
    await truncate(path, catalog.endOffset);
    repairs.push(`The index ended in the middle of a line: ${scanned.tornBytes} bytes were cut off.`);
  }
  const cut = await firstOtherRow(path, catalog, pending);
  if (cut !== undefined) {
    repairs.push(`Lines of the index that were being written were written again: ${catalog.count - cut}.`);
    await truncate(path, catalog.extentOf(cut)?.start ?? 0);
    scanned = await scanIndex(path);
  }
  return new ReceiptWriter(options, scanned);
}

async function firstOtherRow(
  path: string,
  catalog: ReceiptWriter['catalog'],
  pending: readonly SealedReceipt[],
): Promise<number | undefined> {
  for (const { receipt, indexLine } of pending) {
    const row = receipt.seq - 1;
    if (row >= catalog.count) return undefined;
    if ((await readIndexLine(path, catalog.extentOf(row))) !== indexLine) return row;
  }
  return undefined;
}

function replay(writer: ReceiptWriter, pending: readonly SealedReceipt[], repairs: string[]): void {
  const first = pending[0]?.receipt;
  const last = pending.at(-1);
  if (first === undefined || last === undefined) return;
  const known = writer.catalog.count;
  // Lines before the journal's first are gone: the journal still knows what that one follows.
  if (first.seq > known + 1)
    writer.goOnFrom({ count: first.seq - 1, selfHash: first.prev_receipt_hash, receiptId: null });
  // Lines behind the journal's last are not the daemon's: its checkpoint must not cover them.
  else if (known > last.receipt.seq) goOn(writer, { count: last.receipt.seq, head: last.selfHash });
  const replaced = writer.append(pending);
  const indexed = writer.catalog.count - known;
  if (indexed > 0) repairs.push(`Receipts were indexed from the journal: ${indexed}.`);
  if (replaced.length > 0)
    repairs.push(`Receipts that were being written were written again: ${replaced.join(', ')}.`);
}

interface Vouched {
  readonly count: number;
  readonly head: string;
}

interface Settling {
  readonly writer: ReceiptWriter;
  readonly beyond: ReadonlyMap<number, readonly string[]>;
  readonly repairs: string[];
}

/** Compares the end of the index with what is known of it, and answers in what they differ. */
async function settle(
  options: ReceiptStoreOptions,
  { writer, beyond, repairs }: Settling,
): Promise<string[]> {
  const vouched = await vouchedEnd(options);
  const { catalog } = writer;
  const odd = catalog.firstOddRow;
  if (vouched === null) return odd === undefined ? [] : [oddLine(odd)];
  if (odd === undefined && vouched.count > catalog.count) {
    const adopted = await adoptReceipts(options, { writer, beyond, until: vouched });
    if (adopted > 0) repairs.push(`Receipts that had lost their index line were indexed: ${adopted}.`);
  }
  const end = writer.end.selfHash;
  goOn(writer, vouched);
  if (odd !== undefined) return [oddLine(odd)];
  if (vouched.count > catalog.count)
    return [`The last receipts of the chain are missing from its index: ${vouched.count - catalog.count}.`];
  if (vouched.count < catalog.count)
    return [`The index has lines that the daemon did not write: ${catalog.count - vouched.count}.`];
  return end === vouched.head ? [] : ['The last line of the index is not what the daemon wrote.'];
}

const oddLine = (row: number) => `From line ${row + 1} on, the index is not what the daemon wrote.`;

function goOn(writer: ReceiptWriter, { count, head }: Vouched): void {
  const row = writer.catalog.rowOfSeq(count);
  writer.goOnFrom({ count, selfHash: head, receiptId: row === undefined ? null : writer.catalog.idAt(row) });
}

/** The longest chain that something outside the folder, or our own signature in it, vouches for. */
async function vouchedEnd(options: ReceiptStoreOptions): Promise<Vouched | null> {
  const { trusted, pending = [] } = options;
  const last = pending.at(-1);
  const candidates = [
    last === undefined ? null : { count: last.receipt.seq, head: last.selfHash },
    trusted.get(),
    await signedEnd(options),
  ];
  let longest: Vouched | null = null;
  for (const candidate of candidates)
    if (candidate !== null && candidate.count > (longest?.count ?? -1)) longest = candidate;
  if (longest !== null && longest.count > (trusted.get()?.count ?? 0)) trusted.set(longest);
  return longest;
}

/** Of a chain that is whole. It is behind where the key could not be had for a while. */
async function mendCheckpoint(
  options: ReceiptStoreOptions,
  { writer, repairs, damage }: { writer: ReceiptWriter; repairs: string[]; damage: string[] },
): Promise<void> {
  const { signer, verifierKey } = options.signingKey;
  const { count } = writer.end;
  // Without a key the daemon signs nothing, and a checkpoint has nothing to show.
  if (verifierKey === null || count === 0) return writer.writeCheckpoint();
  const signed = await signedEnd(options);
  if (signed === null) {
    damage.push('CHECKPOINT is missing, or the daemon did not sign it.');
    return;
  }
  writer.foundCheckpoint(signed.count);
  if (signed.count === count || signer === null) return;
  writer.writeCheckpoint();
  repairs.push(`CHECKPOINT stood at receipt ${signed.count} and was signed anew.`);
}

async function signedEnd({ folder, wsId, signingKey }: ReceiptStoreOptions): Promise<Vouched | null> {
  const { verifierKey } = signingKey;
  if (verifierKey === null) return null;
  const note = (await readPlainFile(checkpointPath(folder)))?.toString('utf8') ?? '';
  const checkpoint = parseCheckpoint(note);
  if (checkpoint?.wsId !== wsId || verifyCheckpoint(note, verifierKey) !== 'verified') return null;
  return { count: checkpoint.count, head: checkpoint.head };
}
