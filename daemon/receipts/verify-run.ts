import { hash } from 'node:crypto';
import { CodedError } from '../contract/errors.ts';
import type { Fault, RunVerdict } from '../contract/receipts.ts';
import { genesisHash } from './receipt-format.ts';
import type { ReceiptStore } from './receipt-store.ts';
import { checkReceipt } from './verifier/check-receipt.ts';

/** What a verification reads, now, from the disk; `head` is the daemon's own memory. */
export type VerifiedStore = Pick<
  ReceiptStore,
  'wsId' | 'head' | 'read' | 'receiptsOfRun' | 'indexLine' | 'seqOf' | 'idOf'
>;

/**
 * Reads the receipts of a run again and compares each with its own hash, its index line, the receipts before and after it,
 * and the last of the chain with the head that the daemon remembers. Ends at the first that is wrong.
 *
 * @throws CodedError unknown_run
 */
export async function verifyRun(store: VerifiedStore, runId: string): Promise<RunVerdict> {
  const receiptIds = await store.receiptsOfRun(runId);
  const newest = receiptIds.at(-1);
  if (newest === undefined)
    throw new CodedError('unknown_run', `No receipt of ${runId} is in this workspace's chain.`);
  for (const [at, receiptId] of receiptIds.entries()) {
    const fault = await faultOf(store, receiptId);
    if (fault !== null)
      return {
        valid: false,
        mismatch: fault.field,
        receipt_id: receiptId,
        checked: at + 1,
        detail: fault.detail,
      };
  }
  return { valid: true, mismatch: null, receipt_id: newest, checked: receiptIds.length, detail: null };
}

type Finding = Pick<Fault, 'field' | 'detail'>;

async function faultOf(store: VerifiedStore, receiptId: string): Promise<Finding | null> {
  const seq = store.seqOf(receiptId) ?? 0;
  const before = await hashBefore(store, seq);
  // Where the receipt before is gone, its own word for it is all there is; the rest of it can still be judged.
  const checked = await check(store, seq, before ?? (await statedLink(store, seq)) ?? '');
  if ('field' in checked) return checked;
  if (before === null) return { field: 'prev_receipt_hash', detail: 'The receipt before it is gone.' };
  return linkFault(store, { seq, selfHash: checked.selfHash });
}

async function check(
  store: VerifiedStore,
  seq: number,
  prevHash: string,
): Promise<{ selfHash: string } | Finding> {
  const receiptId = store.idOf(seq);
  const bytes = receiptId === null ? null : await store.read(receiptId);
  if (bytes === null)
    return { field: 'file', detail: 'The file of the receipt is gone, or is no plain file.' };
  const indexLine = await store.indexLine(seq);
  if (indexLine === null)
    return { field: 'index', detail: 'The line of the receipt is gone from the index.' };
  return checkReceipt(bytes, { seq, prevHash, wsId: store.wsId, indexLine });
}

/** The hash of the receipt before as its bytes are now, whatever hash it states; null where it is gone. */
async function hashBefore(store: VerifiedStore, seq: number): Promise<string | null> {
  if (seq === 1) return genesisHash(store.wsId);
  const receiptId = store.idOf(seq - 1);
  const bytes = receiptId === null ? null : await store.read(receiptId);
  if (bytes === null) return null;
  const text = bytes.toString('latin1').replace(selfHashForm, '').replace(/\n$/, '');
  return `sha256:${hash('sha256', Buffer.from(text, 'latin1'))}`;
}

/** What follows must be linked to this receipt: its file and index line could have been rewritten together. */
async function linkFault(
  store: VerifiedStore,
  { seq, selfHash }: { seq: number; selfHash: string },
): Promise<Finding | null> {
  const { head } = store;
  if (seq >= head.count)
    return head.selfHash === selfHash
      ? null
      : { field: 'self_hash', detail: 'The daemon wrote another receipt as the last of the chain.' };
  const next = await statedLink(store, seq + 1);
  if (next === null || next === selfHash) return null;
  return { field: 'self_hash', detail: 'The receipt after it is linked to another content.' };
}

/** The `prev_receipt_hash` in a receipt's file; null where it can't be read. */
async function statedLink(store: VerifiedStore, seq: number): Promise<string | null> {
  const receiptId = store.idOf(seq);
  const bytes = receiptId === null ? null : await store.read(receiptId);
  return bytes === null ? null : (linkForm.exec(bytes.toString('latin1'))?.[1] ?? null);
}

/** In a canonical receipt a quote inside a string is escaped, so these are the fields themselves. */
const selfHashForm = /"self_hash":"sha256:[0-9a-f]{64}",/;
const linkForm = /[{,]"prev_receipt_hash":"(sha256:[0-9a-f]{64})"/;
