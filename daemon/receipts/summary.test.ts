import { expect, test } from 'vitest';
import { maxSummaryFiles, ReceiptSummary, type TouchedFile } from '../contract/receipts.ts';
import { newId } from '../lib/ids.ts';
import { summarize } from './summary.ts';
import { sealedChain } from './testing/sealed-chain.ts';

const [sealed] = sealedChain(1, { wsId: newId('ws') });
if (sealed === undefined) throw new Error('no receipt was made');
const { receipt } = sealed;
const [template] = receipt.files;
if (template === undefined) throw new Error('the receipt has no file');
const fileAt = (path: string): TouchedFile => ({ ...template, path });
const hunk = (lines: string[]) => ({ old_start: 1, old_lines: 1, new_start: 1, new_lines: 1, lines });

test('lines are counted by file and in all; the diffs are left out', () => {
  const summary = summarize({
    ...receipt,
    files: [fileAt('a'), fileAt('b'), fileAt('c')],
    diffs: [
      { path: 'a', hunks: [hunk([' same', '-old', '+new', '+++ more']), hunk(['--- gone'])] },
      { path: 'b', hunks: [], binary: true },
    ],
  });
  expect(summary.files.map(({ path, added, removed }) => [path, added, removed])).toEqual([
    ['a', 2, 2],
    ['b', 0, 0],
    ['c', 0, 0],
  ]);
  expect([summary.added, summary.removed, summary.file_count]).toEqual([2, 2, 3]);
  expect('diffs' in summary).toBe(false);
  expect(ReceiptSummary.parse(summary)).toEqual(summary);
});

test(`${maxSummaryFiles} files are listed; of one more, only the lines are counted`, () => {
  for (const count of [maxSummaryFiles, maxSummaryFiles + 1]) {
    const paths = Array.from({ length: count }, (_, at) => `file-${at}`);
    const diffs = paths.map((path) => ({ path, hunks: [hunk(['+line'])] }));
    const summary = summarize({ ...receipt, files: paths.map(fileAt), diffs });
    expect([summary.files.length, summary.file_count, summary.added]).toEqual([
      maxSummaryFiles,
      count,
      count,
    ]);
  }
});
