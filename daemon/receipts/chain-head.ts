import { ReceiptId, WorkspaceId } from '../contract/ids.ts';
import type { ChainHead } from '../contract/receipts.ts';
import type { ReceiptStore } from './receipt-store.ts';

/** The end of the chain as the daemon wrote it, whatever the folder holds by now. */
export function chainHead({
  wsId,
  head,
  verifierKey,
}: Pick<ReceiptStore, 'wsId' | 'head' | 'verifierKey'>): ChainHead {
  return {
    ws_id: WorkspaceId.parse(wsId),
    head: head.selfHash,
    count: head.count,
    receipt_id: head.receiptId === null ? null : ReceiptId.parse(head.receiptId),
    checkpoint_key: verifierKey,
  };
}
