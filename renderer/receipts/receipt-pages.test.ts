import { expect, test } from 'vitest';
import type { ReceiptSummary } from '../../daemon/contract/receipts.ts';
import { withReceipt } from './receipt-pages.ts';

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

function seqs({ pages }: { pages: { receipts: ReceiptSummary[] }[] }): number[] {
  return pages.flatMap((page) => page.receipts.map((one) => one.seq));
}

function receipt(seq: number): ReceiptSummary {
  const told = { receipt_id: `rcpt_${seq}`, run_id: `run_${seq}`, seq, tool: 'file.write' };
  return told as unknown as ReceiptSummary;
}
