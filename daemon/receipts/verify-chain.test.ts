import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sealedChain } from './testing/sealed-chain.ts';
import { storeFixture } from './testing/store-fixture.ts';
import { verifyChain } from './verify-chain.ts';

const onProgress = () => undefined;

test('what the store writes verifies, from the empty chain on', async () => {
  await using fixture = await storeFixture();
  const store = await fixture.open();
  for (const length of [0, 1, 1, 20]) {
    store.append(sealedChain(length, { ...fixture, after: store.head }));
    const verdict = await verifyChain(store, { onProgress });
    expect(verdict).toMatchObject({
      valid: true,
      fault: null,
      signature: 'verified',
      count: store.head.count,
    });
  }
});

test('a flipped byte is named; a chain put back to an older state, CHECKPOINT and all, is not believed', async () => {
  await using fixture = await storeFixture();
  const store = await fixture.open();
  const chain = sealedChain(3, fixture);
  store.append(chain.slice(0, 2));
  const older = ['INDEX.jsonl', 'CHECKPOINT'].map((name) => {
    const path = join(fixture.folder, name);
    return { path, bytes: readFileSync(path) };
  });
  store.append(chain.slice(2));
  const path = join(fixture.folder, `${chain[1]?.receipt.receipt_id}.json`);
  const bytes = readFileSync(path, 'utf8');
  writeFileSync(path, bytes.replace('"tokens_in":0', '"tokens_in":1'));
  expect(await verifyChain(store, { onProgress })).toMatchObject({
    valid: false,
    fault: { field: 'cost', seq: 2 },
  });
  writeFileSync(path, bytes);
  for (const { path, bytes } of older) writeFileSync(path, bytes);
  rmSync(join(fixture.folder, `${chain[2]?.receipt.receipt_id}.json`));
  expect(await verifyChain(store, { onProgress })).toMatchObject({
    valid: false,
    fault: { field: 'checkpoint' },
    count: 3,
  });
});

test('receipts that are added while it verifies are no fault', async () => {
  await using fixture = await storeFixture();
  const store = await fixture.open();
  store.append(sealedChain(30, fixture));
  const appendMore = async (batches: number) => {
    for (let batch = 0; batch < batches; batch += 1) {
      await store.writable;
      store.append(sealedChain(1, { ...fixture, after: store.head }));
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  for (let round = 0; round < 14; round += 1) {
    const [verdict] = await Promise.all([verifyChain(store, { onProgress }), appendMore(round)]);
    expect(verdict).toMatchObject({ valid: true, fault: null });
  }
  expect(store.head.count).toBe(30 + (13 * 14) / 2);
});

test('writers wait until every hold is released', async () => {
  await using fixture = await storeFixture();
  const store = await fixture.open();
  const order: string[] = [];
  const [one, two] = [store.hold(), store.hold()];
  const writer = store.writable.then(() => order.push('written'));
  one[Symbol.dispose]();
  await new Promise((resolve) => setImmediate(resolve));
  order.push('second released');
  two[Symbol.dispose]();
  await writer;
  expect(order).toEqual(['second released', 'written']);
});

test('repairs are reported, and are no fault', async () => {
  await using fixture = await storeFixture();
  (await fixture.open()).append(sealedChain(2, fixture));
  writeFileSync(join(fixture.folder, 'INDEX.jsonl'), '{"torn', { flag: 'a' });
  const store = await fixture.open();
  const verdict = await verifyChain(store, { onProgress });
  expect(verdict.valid).toBe(true);
  expect(verdict.repairs.join()).toContain('middle of a line');
});

test('a checkpoint that was put back alone is found; one that stays for want of the key is not', async () => {
  await using fixture = await storeFixture();
  const first = await fixture.open();
  const path = join(fixture.folder, 'CHECKPOINT');
  first.append(sealedChain(1, fixture));
  const older = readFileSync(path);
  first.append(sealedChain(1, { ...fixture, after: first.head }));
  const newer = readFileSync(path);
  writeFileSync(path, older);
  expect((await verifyChain(first, { onProgress })).fault?.field).toBe('checkpoint');
  writeFileSync(path, newer);
  const locked = await fixture.open({ signingKey: { signer: null, verifierKey: first.verifierKey } });
  locked.append(sealedChain(1, { ...fixture, after: locked.head }));
  expect((await verifyChain(locked, { onProgress })).fault).toBeNull();
});
