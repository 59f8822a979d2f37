import { expect, test } from 'vitest';
import type { ReceiptSummary } from '../../daemon/contract/receipts.ts';
import { byDay, dayWords, withReceipt } from './receipt-pages.ts';

test('a new receipt stands at the top of every list it belongs to, once', () => {
  const pages = { pages: [{ receipts: [receipt(2), receipt(1)], next_before: null }], pageParams: [null] };
  const after = withReceipt(pages, receipt(3), {});
  expect(seqs(after)).toEqual([3, 2, 1]);
  expect(withReceipt(after, receipt(3), {})).toBe(after);
  expect(withReceipt(pages, receipt(3), { tool: 'rollback' })).toBe(pages);
  expect(withReceipt(pages, receipt(3), { run_id: 'run_other' })).toBe(pages);
  expect(seqs(withReceipt(pages, receipt(3), { tool: 'file.write', run_id: 'run_3' }))).toEqual([3, 2, 1]);
});

test('events that come out of order leave the chain in order', () => {
  const pages = { pages: [{ receipts: [receipt(4), receipt(1)], next_before: null }], pageParams: [null] };
  expect(seqs(withReceipt(pages, receipt(3), {}))).toEqual([4, 3, 1]);
});

test('receipts are grouped by the days of the reader', () => {
  const at = (day: number, hour: number) => new Date(2026, 2, day, hour).toISOString();
  const days = byDay([
    receipt(4, at(3, 9)),
    receipt(3, at(3, 0)),
    receipt(2, at(2, 23)),
    receipt(1, at(1, 1)),
  ]);
  expect(days.map((day) => day.receipts.map((one) => one.seq))).toEqual([[4, 3], [2], [1]]);
  const now = new Date(2026, 2, 3, 12).getTime();
  expect(days.map(({ day }) => dayWords(day, now))).toEqual([
    'Today',
    'Yesterday',
    expect.stringMatching(/1/),
  ]);
  expect(dayWords('2025-12-31', now)).toContain('2025');
});

function seqs({ pages }: { pages: { receipts: ReceiptSummary[] }[] }): number[] {
  return pages.flatMap((page) => page.receipts.map((one) => one.seq));
}

function receipt(seq: number, timestamp = '2026-03-01T12:00:00.000Z'): ReceiptSummary {
  const told = { receipt_id: `rcpt_${seq}`, run_id: `run_${seq}`, seq, timestamp, tool: 'file.write' };
  return told as unknown as ReceiptSummary;
}
