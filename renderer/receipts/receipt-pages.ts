import type { InfiniteData } from '@tanstack/react-query';
import type { ReceiptPage, ReceiptSummary } from '../../daemon/contract/receipts.ts';
import type { ReceiptFilter } from '../api/queries.ts';

type Pages = InfiniteData<ReceiptPage>;

/** The pages with a new receipt in its place, which is nearly always the top. The same pages where it doesn't belong. */
export function withReceipt<Data extends Pages>(
  data: Data,
  receipt: ReceiptSummary,
  filter: ReceiptFilter,
): Data {
  const [first, ...rest] = data.pages;
  const belongs =
    (filter.tool === undefined || filter.tool === receipt.tool) &&
    (filter.run_id === undefined || filter.run_id === receipt.run_id);
  if (first === undefined || !belongs) return data;
  // An answer that was under way when the event came may have it already.
  if (data.pages.some((page) => page.receipts.some((one) => one.receipt_id === receipt.receipt_id)))
    return data;
  const receipts = [receipt, ...first.receipts].sort((a, b) => b.seq - a.seq);
  return { ...data, pages: [{ ...first, receipts }, ...rest] };
}
