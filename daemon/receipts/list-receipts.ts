import { ReceiptId } from '../contract/ids.ts';
import { Receipt, type ReceiptPage, type Tool } from '../contract/receipts.ts';
import type { ReceiptStore } from './receipt-store.ts';
import { summarize } from './summary.ts';

export interface ListRequest {
  readonly before?: string | undefined;
  readonly limit: number;
  readonly runId?: string | undefined;
  readonly tool?: Tool | undefined;
  /** Part of the path of a file that the receipt touched, whatever its case. */
  readonly path?: string | undefined;
}

/** So many receipts are read for one page at most; one that is not full then says where to go on. */
const maxRead = 1_000;

/**
 * A page of the chain, newest first. Receipts whose file is gone or no longer a receipt are not hidden: they are named
 * in `unreadable`, whatever the filters.
 *
 * @throws CodedError unknown_receipt, where `before` is not in the chain
 */
export async function listReceipts(
  store: Pick<ReceiptStore, 'page' | 'read'>,
  { before, limit, runId, tool, path }: ListRequest,
): Promise<ReceiptPage> {
  const receipts: ReceiptPage['receipts'] = [];
  const unreadable: string[] = [];
  const filtered = tool !== undefined || path !== undefined;
  const { ids, next } = await store.page({ before, limit: filtered ? maxRead : limit, runId });
  for (const [at, receiptId] of ids.entries()) {
    const receipt = parseReceipt(await store.read(receiptId));
    if (receipt === null) unreadable.push(receiptId);
    else if (fits(receipt, { tool, path })) receipts.push(summarize(receipt));
    const full = receipts.length + unreadable.length === limit;
    if (full && at + 1 < ids.length) return pageOf(receipts, unreadable, receiptId);
  }
  return pageOf(receipts, unreadable, next);
}

function pageOf(
  receipts: ReceiptPage['receipts'],
  unreadable: readonly string[],
  next: string | null,
): ReceiptPage {
  return {
    receipts,
    ...(unreadable.length === 0 ? {} : { unreadable: unreadable.map((id) => ReceiptId.parse(id)) }),
    next_before: next === null ? null : ReceiptId.parse(next),
  };
}

function parseReceipt(bytes: Buffer | null): Receipt | null {
  if (bytes === null) return null;
  try {
    return Receipt.parse(JSON.parse(bytes.toString('utf8')));
  } catch {
    // Altered on the disk since: it is named as unreadable, and verification says what is wrong with it.
    return null;
  }
}

function fits(receipt: Receipt, { tool, path }: Pick<ListRequest, 'tool' | 'path'>): boolean {
  if (tool !== undefined && receipt.tool !== tool) return false;
  if (path === undefined) return true;
  const part = path.toLowerCase();
  return receipt.files.some((file) => file.path.toLowerCase().includes(part));
}
