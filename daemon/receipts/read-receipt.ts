import { hash } from 'node:crypto';
import { CodedError } from '../contract/errors.ts';
import type { ReceiptStore } from './receipt-store.ts';

/**
 * A receipt's bytes as they are stored, with their own hash as entity tag: of altered bytes it differs.
 *
 * @throws CodedError unknown_receipt, where the chain has none of that id or its file is gone
 */
export async function readReceipt(
  store: Pick<ReceiptStore, 'read' | 'seqOf'>,
  receiptId: string,
): Promise<{ readonly bytes: Buffer; readonly etag: string }> {
  const bytes = await store.read(receiptId);
  if (bytes !== null) return { bytes, etag: `"sha256:${hash('sha256', bytes)}"` };
  const detail =
    store.seqOf(receiptId) === null
      ? `No receipt ${receiptId} is in this workspace's chain.`
      : `The chain has ${receiptId}, but its file is gone.`;
  throw new CodedError('unknown_receipt', detail);
}
