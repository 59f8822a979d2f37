import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Receipt } from '../contract/receipts.ts';
import { newId } from '../lib/ids.ts';
import { type SealedReceipt, sealReceipt } from './receipt-format.ts';
import { sealedChain } from './testing/sealed-chain.ts';
import { type StoreFixture, storeFixture } from './testing/store-fixture.ts';
import { verifyRun } from './verify-run.ts';

const runA = newId('run');
const runB = newId('run');

/** Receipts 1, 3 and 5 are of run A, 2 and 4 of run B. */
async function chainOfTwoRuns(fixture: StoreFixture) {
  const store = await fixture.open();
  const chain = sealedChain(5, { ...fixture, runId: (at) => (at % 2 === 0 ? runA : runB) });
  store.append(chain);
  const at = (seq: number): SealedReceipt => {
    const sealed = chain[seq - 1];
    if (sealed === undefined) throw new Error(`there is no receipt ${seq}`);
    return sealed;
  };
  const path = (seq: number) => join(fixture.folder, `${at(seq).receipt.receipt_id}.json`);
  return { store, at, path, index: join(fixture.folder, 'INDEX.jsonl') };
}

/** The receipt with another value of the same length, and a hash that fits it. */
function forged({ receipt }: SealedReceipt): SealedReceipt {
  const { self_hash: _, ...draft } = receipt;
  return sealReceipt({ ...draft, symbols_checked: 1 } satisfies Omit<Receipt, 'self_hash'>);
}

test('a run whose receipts are as they were is valid', async () => {
  await using fixture = await storeFixture();
  const { store, at } = await chainOfTwoRuns(fixture);
  expect(await verifyRun(store, runA)).toEqual({
    valid: true,
    mismatch: null,
    receipt_id: at(5).receipt.receipt_id,
    checked: 3,
    detail: null,
  });
  expect(await verifyRun(store, runB)).toMatchObject({ valid: true, checked: 2 });
  await expect(verifyRun(store, newId('run'))).rejects.toMatchObject({ code: 'unknown_run' });
});

test.each([
  ['cost', '"usd":0', '"usd":9'],
  ['diffs', '+line 3', '+lime 3'],
  ['run_id', `"run_id":"${runA}"`, `"run_id":"${runB}"`],
  ['canonical_form', '"usd":0', '"usd": 0'],
])('an edit of %s is named', async (field, from, to) => {
  await using fixture = await storeFixture();
  const { store, at, path } = await chainOfTwoRuns(fixture);
  writeFileSync(path(3), readFileSync(path(3), 'utf8').replace(from, to));
  expect(await verifyRun(store, runA)).toMatchObject({
    valid: false,
    mismatch: field,
    receipt_id: at(3).receipt.receipt_id,
    checked: 2,
  });
});

test('a flipped bit is found wherever it is', async () => {
  await using fixture = await storeFixture();
  const { store, path } = await chainOfTwoRuns(fixture);
  const bytes = readFileSync(path(5));
  // Every third byte, with the first and the last: all of them take five seconds.
  const places = [...bytes.keys()].filter((at) => at % 3 === 0 || at === bytes.length - 1);
  let found = 0;
  for (const at of places) {
    const flipped = Buffer.from(bytes);
    flipped[at] = (flipped[at] ?? 0) ^ (1 << (at % 8));
    writeFileSync(path(5), flipped);
    if (!(await verifyRun(store, runA)).valid) found += 1;
  }
  expect(found).toBe(places.length);
});

test('a receipt that was rewritten with its hash and its index line is found, in the middle and at the end', async () => {
  for (const seq of [1, 3, 5]) {
    await using fixture = await storeFixture();
    const { store, at, path, index } = await chainOfTwoRuns(fixture);
    const other = forged(at(seq));
    writeFileSync(path(seq), other.bytes);
    expect(await verifyRun(store, runA)).toMatchObject({ valid: false, mismatch: 'symbols_checked' });
    const lines = readFileSync(index, 'utf8').split('\n');
    lines[seq - 1] = other.indexLine.trimEnd();
    writeFileSync(index, lines.join('\n'));
    expect(await verifyRun(store, runA)).toMatchObject({
      valid: false,
      mismatch: 'self_hash',
      receipt_id: at(seq).receipt.receipt_id,
    });
  }
});

test('a receipt that follows an altered one is not linked to it any more', async () => {
  await using fixture = await storeFixture();
  const { store, at, path } = await chainOfTwoRuns(fixture);
  writeFileSync(path(2), forged(at(2)).bytes);
  expect(await verifyRun(store, runA)).toMatchObject({
    mismatch: 'prev_receipt_hash',
    receipt_id: at(3).receipt.receipt_id,
  });
  rmSync(path(2));
  expect(await verifyRun(store, runA)).toMatchObject({
    mismatch: 'prev_receipt_hash',
    detail: 'The receipt before it is gone.',
  });
});

test('a missing file and a missing index line are named', async () => {
  await using fixture = await storeFixture();
  const { store, path, index } = await chainOfTwoRuns(fixture);
  rmSync(path(5));
  expect(await verifyRun(store, runA)).toMatchObject({ mismatch: 'file', checked: 3 });
  writeFileSync(index, '');
  expect(await verifyRun(store, runB)).toMatchObject({ mismatch: 'index', checked: 1 });
});
