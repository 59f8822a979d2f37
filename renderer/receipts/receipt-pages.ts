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

/** Receipts of one day in the reader's time zone, newest first. */
export type ReceiptDay = { day: string; receipts: ReceiptSummary[] };

export function byDay(receipts: ReceiptSummary[]): ReceiptDay[] {
  const days: ReceiptDay[] = [];
  for (const receipt of receipts) {
    const day = dayOf(new Date(receipt.timestamp));
    const last = days.at(-1);
    if (last?.day === day) last.receipts.push(receipt);
    else days.push({ day, receipts: [receipt] });
  }
  return days;
}

/** "Today", "Yesterday", else the weekday and the date. */
export function dayWords(day: string, now: number): string {
  if (day === dayOf(new Date(now))) return 'Today';
  const yesterday = new Date(now);
  yesterday.setDate(yesterday.getDate() - 1);
  if (day === dayOf(yesterday)) return 'Yesterday';
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number);
  const thisYear = year === new Date(now).getFullYear();
  return new Date(year, month - 1, date).toLocaleDateString(undefined, {
    weekday: 'long',
    day: 'numeric',
    month: 'long',
    ...(thisYear ? {} : { year: 'numeric' }),
  });
}

function dayOf(time: Date): string {
  return `${time.getFullYear()}-${String(time.getMonth() + 1).padStart(2, '0')}-${String(time.getDate()).padStart(2, '0')}`;
}
