import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { newId } from '../lib/ids.ts';
import { tempFolder } from '../lib/testing/temp-folder.ts';
import { scanIndex } from './index-scan.ts';
import { readIndexLine } from './read-index.ts';
import { ReceiptCatalog } from './receipt-catalog.ts';
import { sealedChain } from './testing/sealed-chain.ts';

async function scanned(content: string | Buffer) {
  await using temp = await tempFolder();
  const path = join(temp.path, 'INDEX.jsonl');
  writeFileSync(path, content);
  const scan = await scanIndex(path);
  return { ...scan, digest: scan.digest.digest('hex') };
}

const sha256 = (bytes: string | Buffer) => createHash('sha256').update(bytes).digest('hex');

test('20,000 lines are understood as a parser of JSON understands them', async () => {
  await using temp = await tempFolder();
  const path = join(temp.path, 'INDEX.jsonl');
  const runs = Array.from({ length: 700 }, () => newId('run'));
  const chain = sealedChain(20_000, { wsId: newId('ws'), runId: (at) => runs[(at * 31) % 700] ?? '' });
  const text = chain.map(({ indexLine }) => indexLine).join('');
  writeFileSync(path, text);
  const { catalog, digest, lastHash, tornBytes } = await scanIndex(path);
  const lines = text.split('\n').slice(0, -1);
  const parsed = lines.map((line) => JSON.parse(line) as { receipt_id: string; run_id: string });
  expect([catalog.count, catalog.firstOddRow, tornBytes]).toEqual([20_000, undefined, 0]);
  expect(digest.digest('hex')).toBe(sha256(text));
  expect(lastHash).toBe(chain.at(-1)?.selfHash);
  expect(parsed.map((_, row) => catalog.idAt(row))).toEqual(parsed.map(({ receipt_id }) => receipt_id));
  expect(parsed.map(({ receipt_id }) => catalog.rowOf(receipt_id))).toEqual(parsed.map((_, row) => row));
  for (const run of runs) {
    const rows = parsed.flatMap(({ run_id }, row) => (run_id === run ? [row] : []));
    expect([...catalog.rowsOfRun(run)].reverse()).toEqual(rows);
  }
  for (const row of [0, 1, 288, 289, 9_999, 19_999])
    expect(await readIndexLine(path, catalog.extentOf(row))).toBe(`${lines[row]}\n`);
  expect(catalog.extentOf(20_000)).toBeUndefined();
});

test('a missing index and an empty one are the same', async () => {
  await using temp = await tempFolder();
  const missing = await scanIndex(join(temp.path, 'INDEX.jsonl'));
  expect([missing.catalog.count, missing.lastHash, missing.tornBytes]).toEqual([0, null, 0]);
  expect((await scanned('')).digest).toBe(sha256(''));
});

test('lines that are not the daemon’s are counted and never taken for receipts', async () => {
  const chain = sealedChain(4, { wsId: newId('ws') });
  const [one = '', two = '', three = '', four = ''] = chain.map(({ indexLine }) => indexLine);
  const whole = one + two + three + four;
  const cases: readonly { content: string; odd: number | undefined; ids: readonly (number | null)[] }[] = [
    { content: whole, odd: undefined, ids: [0, 1, 2, 3] },
    { content: `${one}garbage\n${three}`, odd: 1, ids: [0, null, 2] },
    { content: `${one}\n${two}`, odd: 1, ids: [0, null, 1] },
    { content: two + one + three, odd: 0, ids: [1, 0, 2] },
    { content: one + two + two + three, odd: 2, ids: [0, 1, 1, 2] },
    { content: one + three, odd: 1, ids: [0, 2] },
    { content: one + two.replace('\n', ' \n'), odd: 1, ids: [0, null] },
    { content: `${one}${'x'.repeat(300_000)}\n${two}`, odd: 1, ids: [0, null, 1] },
    { content: one + two.replace('"rcpt_', '"RCPT_'), odd: 1, ids: [0, null] },
  ];
  for (const { content, odd, ids } of cases) {
    const { catalog, digest } = await scanned(content);
    expect(catalog.firstOddRow).toBe(odd);
    expect(ids.map((_, row) => catalog.idAt(row))).toEqual(
      ids.map((at) => (at === null ? null : chain[at]?.receipt.receipt_id)),
    );
    expect([catalog.count, catalog.endOffset, digest]).toEqual([ids.length, content.length, sha256(content)]);
  }
});

test('bytes behind the last line feed are torn, however many, and not part of the digest', async () => {
  const whole = sealedChain(2, { wsId: newId('ws') })
    .map(({ indexLine }) => indexLine)
    .join('');
  for (const torn of ['{', 'x'.repeat(65_537), '\0'.repeat(700_000)]) {
    const scan = await scanned(whole + torn);
    expect([scan.catalog.count, scan.tornBytes, scan.digest]).toEqual([2, torn.length, sha256(whole)]);
  }
});

test('100,000 receipts take less than 5 MB of memory', () => {
  const catalog = new ReceiptCatalog();
  for (let seq = 1; seq <= 100_000; seq += 1)
    catalog.add({
      receiptId: `rcpt_20260301_${String(seq).padStart(8, '0')}00ff`,
      runId: 'run_x',
      bytes: 900,
    });
  expect(catalog.idAt(99_999)).toBe('rcpt_20260301_0010000000ff');
  expect(catalog.endOffset).toBe(90_000_000);
  expect(catalog.allocatedBytes).toBeLessThan(5_000_000);
});
