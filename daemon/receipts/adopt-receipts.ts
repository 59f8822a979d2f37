import { Receipt } from '../contract/receipts.ts';
import { type SealedReceipt, sealReceipt } from './receipt-format.ts';
import type { ReceiptStoreOptions } from './receipt-store-options.ts';
import { type ReceiptWriter, receiptPath } from './receipt-writer.ts';
import { readPlainFile } from './store.ts';

export interface Adoption {
  readonly writer: ReceiptWriter;
  /** Ids by position of the receipt files that are past the end of the index. */
  readonly beyond: ReadonlyMap<number, readonly string[]>;
  /** The end of the chain that is vouched for. */
  readonly until: { readonly count: number; readonly head: string };
}

/**
 * Indexes again the receipts past the end of the index: all of them up to `until`, where each file is whole, follows the
 * one before, and the last is the very one that is vouched for; else none. Answers how many.
 */
export async function adoptReceipts(
  { folder, wsId }: ReceiptStoreOptions,
  { writer, beyond, until }: Adoption,
): Promise<number> {
  const start = writer.end;
  const ids = await linkedIds(folder, wsId, { start, beyond, until });
  if (ids === null) return 0;
  for (const receiptId of ids) {
    const sealed = await readSealed(folder, receiptId);
    if (sealed === null) throw new Error(`Receipt ${receiptId} was removed while it was indexed.`);
    writer.append([sealed]);
  }
  return ids.length;
}

interface Search {
  readonly start: { readonly count: number; readonly selfHash: string };
  readonly beyond: Adoption['beyond'];
  readonly until: Adoption['until'];
}

/** Null where the chain does not reach the vouched end. Nothing but ids is kept: there may be very many. */
async function linkedIds(
  folder: string,
  wsId: string,
  { start, beyond, until }: Search,
): Promise<string[] | null> {
  const ids: string[] = [];
  let prevHash = start.selfHash;
  for (let seq = start.count + 1; seq <= until.count; seq += 1) {
    const next = await findNext(folder, beyond.get(seq) ?? [], { seq, wsId, prevHash });
    if (next === null) return null;
    ids.push(next.receipt.receipt_id);
    prevHash = next.selfHash;
  }
  return prevHash === until.head ? ids : null;
}

async function findNext(
  folder: string,
  receiptIds: readonly string[],
  place: { readonly seq: number; readonly wsId: string; readonly prevHash: string },
): Promise<SealedReceipt | null> {
  for (const receiptId of receiptIds) {
    const sealed = await readSealed(folder, receiptId);
    if (sealed === null) continue;
    const { seq, workspace_id, prev_receipt_hash } = sealed.receipt;
    if (seq === place.seq && workspace_id === place.wsId && prev_receipt_hash === place.prevHash)
      return sealed;
  }
  return null;
}

/** Null where the file is not, to the byte, what the daemon would write. */
async function readSealed(folder: string, receiptId: string): Promise<SealedReceipt | null> {
  const bytes = await readPlainFile(receiptPath(folder, receiptId));
  if (bytes === null) return null;
  const parsed = Receipt.loose().safeParse(parseJson(bytes));
  if (!parsed.success || parsed.data.receipt_id !== receiptId) return null;
  const { self_hash: _, ...draft } = parsed.data;
  const sealed = sealReceipt(draft);
  return sealed.bytes.equals(bytes) ? sealed : null;
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    // What is no JSON is no receipt; verification says so.
    return undefined;
  }
}
