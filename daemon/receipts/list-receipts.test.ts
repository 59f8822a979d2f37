import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ReceiptPage } from '../contract/receipts.ts';
import { newId } from '../lib/ids.ts';
import { listReceipts } from './list-receipts.ts';
import { readReceipt } from './read-receipt.ts';
import { sealedChain } from './testing/sealed-chain.ts';
import { storeFixture } from './testing/store-fixture.ts';

const seqs = ({ receipts }: ReceiptPage) => receipts.map(({ seq }) => seq);

test('following next_before lists every receipt once, newest first', async () => {
  await using fixture = await storeFixture();
  const store = await fixture.open();
  store.append(sealedChain(7, fixture));
  const seen: number[] = [];
  let before: string | undefined;
  for (const expected of [3, 3, 1]) {
    const page = ReceiptPage.parse(await listReceipts(store, { before, limit: 3 }));
    expect(page.receipts).toHaveLength(expected);
    expect('unreadable' in page).toBe(false);
    seen.push(...seqs(page));
    before = page.next_before ?? undefined;
  }
  expect(before).toBeUndefined();
  expect(seen).toEqual([7, 6, 5, 4, 3, 2, 1]);
});

test('a page that the chain fills exactly is the last', async () => {
  await using fixture = await storeFixture();
  const store = await fixture.open();
  store.append(sealedChain(3, fixture));
  expect(await listReceipts(store, { limit: 3 })).toMatchObject({ next_before: null });
  expect(await listReceipts(store, { limit: 3, path: 'SRC/' })).toMatchObject({ next_before: null });
});

test('filters by run, tool and part of a path', async () => {
  await using fixture = await storeFixture();
  const store = await fixture.open();
  const run = newId('run');
  const chain = sealedChain(12, { ...fixture, runId: (at) => (at < 2 ? run : newId('run')) });
  store.append(chain);
  expect(seqs(await listReceipts(store, { limit: 9, runId: run }))).toEqual([2, 1]);
  expect(seqs(await listReceipts(store, { limit: 9, path: 'File-1' }))).toEqual([12, 11, 10, 1]);
  expect(seqs(await listReceipts(store, { limit: 9, tool: 'shell.run' }))).toEqual([]);
  expect(seqs(await listReceipts(store, { limit: 2, tool: 'file.write' }))).toEqual([12, 11]);
  const first = await listReceipts(store, { limit: 2, path: 'file-1' });
  expect([seqs(first), first.next_before]).toEqual([[12, 11], chain[10]?.receipt.receipt_id]);
  const second = await listReceipts(store, { limit: 9, path: 'file-1', before: first.next_before ?? '' });
  expect([seqs(second), second.next_before]).toEqual([[10, 1], null]);
});

test('a filter that fits little ends its page after 1,000 receipts and says where to go on', async () => {
  await using fixture = await storeFixture();
  const store = await fixture.open();
  store.append(sealedChain(1_001, fixture));
  const first = await listReceipts(store, { limit: 5, path: 'src/file-1.ts' });
  expect(first.receipts).toEqual([]);
  const second = await listReceipts(store, {
    limit: 5,
    path: 'src/file-1.ts',
    before: first.next_before ?? '',
  });
  expect([seqs(second), second.next_before]).toEqual([[1], null]);
});

test('receipts that are gone or no longer receipts are named, not hidden', async () => {
  await using fixture = await storeFixture();
  const store = await fixture.open();
  const chain = sealedChain(4, fixture);
  store.append(chain);
  const ids = chain.map(({ receipt }) => receipt.receipt_id);
  rmSync(join(fixture.folder, `${ids[1]}.json`));
  writeFileSync(join(fixture.folder, `${ids[2]}.json`), '{"seq":3}\n');
  const page = ReceiptPage.parse(await listReceipts(store, { limit: 3 }));
  expect([seqs(page), page.unreadable, page.next_before]).toEqual([[4], [ids[2], ids[1]], ids[1]]);
});

test('a receipt is answered with its stored bytes and their hash', async () => {
  await using fixture = await storeFixture();
  const store = await fixture.open();
  const [sealed] = sealedChain(1, fixture);
  if (sealed === undefined) throw new Error('no receipt was made');
  store.append([sealed]);
  const id = sealed.receipt.receipt_id;
  const { bytes, etag } = await readReceipt(store, id);
  expect(bytes).toEqual(sealed.bytes);
  const path = join(fixture.folder, `${id}.json`);
  const { execFileSync } = await import('node:child_process');
  const [sum] = execFileSync('sha256sum', [path], { encoding: 'utf8' }).split(' ');
  expect(etag).toBe(`"sha256:${sum}"`);
  rmSync(path);
  await expect(readReceipt(store, id)).rejects.toMatchObject({ code: 'unknown_receipt' });
  await expect(readReceipt(store, 'rcpt_20260301_000000020000')).rejects.toMatchObject({
    code: 'unknown_receipt',
  });
});
