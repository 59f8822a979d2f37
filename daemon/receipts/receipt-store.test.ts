import { createHash } from 'node:crypto';
import {
  appendFileSync,
  linkSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { newId } from '../lib/ids.ts';
import { parseCheckpoint, verifyCheckpoint } from './checkpoint-note.ts';
import { genesisHash, type SealedReceipt } from './receipt-format.ts';
import { type DiskCalls, systemDisk } from './store.ts';
import { sealedChain } from './testing/sealed-chain.ts';
import { storeFixture } from './testing/store-fixture.ts';

const idsOf = (chain: readonly SealedReceipt[]) => chain.map(({ receipt }) => receipt.receipt_id as string);
const linesOf = (chain: readonly SealedReceipt[]) => chain.map(({ indexLine }) => indexLine).join('');
const indexOf = (folder: string) => readFileSync(join(folder, 'INDEX.jsonl'), 'utf8');
const fileOf = (folder: string, { receipt }: SealedReceipt) => join(folder, `${receipt.receipt_id}.json`);
const nth = (chain: readonly SealedReceipt[], at: number): SealedReceipt => {
  const found = chain.at(at);
  if (found === undefined) throw new Error(`the chain has no receipt ${at}`);
  return found;
};

test('an empty chain has its genesis hash as head, in a folder of mode 0700', async () => {
  await using fixture = await storeFixture();
  const store = await fixture.open();
  expect(store.head).toMatchObject({ count: 0, selfHash: genesisHash(fixture.wsId), receiptId: null });
  expect(statSync(fixture.folder).mode & 0o777).toBe(0o700);
  expect([store.repairs, store.damage, fixture.notices]).toEqual([[], null, []]);
});

test('append writes the receipts, their index lines and a signed checkpoint over both', async () => {
  await using fixture = await storeFixture();
  const store = await fixture.open();
  const chain = sealedChain(5, fixture);
  store.append(chain.slice(0, 2));
  store.append(chain.slice(2));
  for (const sealed of chain) expect(readFileSync(fileOf(fixture.folder, sealed))).toEqual(sealed.bytes);
  expect(indexOf(fixture.folder)).toBe(linesOf(chain));
  const indexHash = `sha256:${createHash('sha256').update(linesOf(chain)).digest('hex')}`;
  const last = nth(chain, -1);
  expect(store.head).toEqual({
    count: 5,
    selfHash: last.selfHash,
    receiptId: last.receipt.receipt_id,
    indexHash,
  });
  expect(fixture.trusted).toEqual({ count: 5, head: last.selfHash });
  const note = readFileSync(join(fixture.folder, 'CHECKPOINT'), 'utf8');
  expect(verifyCheckpoint(note, store.verifierKey ?? '')).toBe('verified');
  expect(parseCheckpoint(note)).toMatchObject({
    wsId: fixture.wsId,
    count: 5,
    head: last.selfHash,
    indexHash,
  });
  await store.sync(idsOf(chain));
  expect(readdirSync(fixture.folder)).toHaveLength(7);
});

test('a reopened store goes on where it was, with nothing to mend', async () => {
  await using fixture = await storeFixture();
  const first = await fixture.open();
  const chain = sealedChain(3, fixture);
  first.append(chain);
  const second = await fixture.open();
  expect(second.head).toEqual(first.head);
  second.append(sealedChain(2, { ...fixture, after: second.head }));
  const third = await fixture.open();
  expect(third.head).toEqual(second.head);
  expect(third.head.count).toBe(5);
  expect(fixture.notices).toEqual([]);
});

test('a batch that does not follow the head is refused and writes nothing', async () => {
  await using fixture = await storeFixture();
  const store = await fixture.open();
  const chain = sealedChain(2, fixture);
  store.append(chain);
  const before = readdirSync(fixture.folder);
  const fork = sealedChain(1, { ...fixture, after: { count: 1, selfHash: nth(chain, 0).selfHash } });
  expect(() => store.append(fork)).toThrow('does not follow');
  const foreign = sealedChain(1, { wsId: newId('ws'), after: store.head });
  expect(() => store.append(foreign)).toThrow('does not follow');
  expect(readdirSync(fixture.folder)).toEqual(before);
  expect(store.head.count).toBe(2);
});

test('a torn index line is cut off, and the receipt it was for is indexed again', async () => {
  await using fixture = await storeFixture();
  const chain = sealedChain(3, fixture);
  (await fixture.open()).append(chain);
  const index = join(fixture.folder, 'INDEX.jsonl');
  truncateSync(index, statSync(index).size - 7);
  const store = await fixture.open();
  expect(store.head).toMatchObject({ count: 3, selfHash: nth(chain, -1).selfHash });
  expect(indexOf(fixture.folder)).toBe(linesOf(chain));
  expect(store.repairs.join()).toMatch(/middle of a line.*indexed: 1/);
  expect(store.damage).toBeNull();
});

test('an index that is gone is made again from receipts that lead to the remembered head', async () => {
  await using fixture = await storeFixture();
  const chain = sealedChain(20, fixture);
  (await fixture.open()).append(chain);
  rmSync(join(fixture.folder, 'INDEX.jsonl'));
  const store = await fixture.open();
  // A crash in the middle of it must find the same head remembered.
  expect(fixture.toldCounts).toEqual([20]);
  expect(indexOf(fixture.folder)).toBe(linesOf(chain));
  expect([store.head.count, store.damage]).toEqual([20, null]);
  expect(store.repairs.join()).toContain('indexed: 20');
});

test('what the journal holds is written again after a crash at any step', async () => {
  await using fixture = await storeFixture();
  const chain = sealedChain(4, fixture);
  const pending = chain.slice(2);
  const { folder } = fixture;
  (await fixture.open()).append(chain.slice(0, 2));
  const [third, fourth] = [nth(chain, 2), nth(chain, 3)];
  const crashes: readonly (() => void)[] = [
    () => undefined,
    () => writeFileSync(fileOf(folder, third), ''),
    () => writeFileSync(fileOf(folder, third), third.bytes.subarray(0, 40)),
    () => writeFileSync(fileOf(folder, third), Buffer.alloc(third.bytes.length)),
    () => writeFileSync(fileOf(folder, third), third.bytes),
    () => writeFileSync(fileOf(folder, fourth), fourth.bytes),
    () => appendFileSync(join(folder, 'INDEX.jsonl'), third.indexLine.slice(0, 30)),
    () => appendFileSync(join(folder, 'INDEX.jsonl'), third.indexLine),
    () => appendFileSync(join(folder, 'INDEX.jsonl'), Buffer.alloc(100)),
    () => appendFileSync(join(folder, 'INDEX.jsonl'), `${'\0'.repeat(third.indexLine.length - 1)}\n`),
    () => appendFileSync(join(folder, 'INDEX.jsonl'), third.indexLine + fourth.indexLine),
    () => writeFileSync(join(folder, `.durable-${'0'.repeat(32)}.tmp`), 'half'),
    () => rmSync(join(folder, 'CHECKPOINT')),
  ];
  const trusted = fixture.trusted;
  const checkpoint = readFileSync(join(folder, 'CHECKPOINT'));
  for (const crash of crashes) {
    for (const { receipt } of pending) rmSync(join(folder, `${receipt.receipt_id}.json`), { force: true });
    writeFileSync(join(folder, 'INDEX.jsonl'), linesOf(chain.slice(0, 2)));
    writeFileSync(join(folder, 'CHECKPOINT'), checkpoint);
    fixture.trusted = trusted;
    crash();
    const store = await fixture.open({ pending });
    expect(store.head).toMatchObject({ count: 4, selfHash: fourth.selfHash });
    expect(store.damage).toBeNull();
    expect(indexOf(folder)).toBe(linesOf(chain));
    for (const sealed of chain) expect(readFileSync(fileOf(folder, sealed))).toEqual(sealed.bytes);
    expect(readdirSync(folder)).toHaveLength(6);
    expect(fixture.trusted).toEqual({ count: 4, head: fourth.selfHash });
    expect((await fixture.open({ pending })).repairs).toEqual([]);
  }
});

test('a receipt without a file is reported and not invented', async () => {
  await using fixture = await storeFixture();
  const chain = sealedChain(3, fixture);
  (await fixture.open()).append(chain);
  const lost = nth(chain, 1);
  rmSync(fileOf(fixture.folder, lost));
  const store = await fixture.open();
  expect(store.damage).toContain(lost.receipt.receipt_id);
  expect(fixture.notices.join()).toContain('tampered with or lost');
  expect(await store.read(lost.receipt.receipt_id)).toBeNull();
  expect(store.head.count).toBe(3);
});

test('receipts forged behind the end, indexed or not, are never taken into the chain', async () => {
  await using fixture = await storeFixture();
  const chain = sealedChain(3, fixture);
  (await fixture.open()).append(chain);
  const { selfHash } = nth(chain, -1);
  const forged = nth(sealedChain(1, { ...fixture, after: { count: 3, selfHash } }), 0);
  writeFileSync(fileOf(fixture.folder, forged), forged.bytes);
  const unindexed = await fixture.open();
  expect(unindexed.head).toMatchObject({ count: 3, selfHash });
  expect(await unindexed.read(forged.receipt.receipt_id)).toBeNull();
  appendFileSync(join(fixture.folder, 'INDEX.jsonl'), forged.indexLine);
  const indexed = await fixture.open();
  expect(indexed.head).toMatchObject({ count: 3, selfHash });
  expect(indexed.damage).toContain('lines that the daemon did not write: 1');
  const replayed = await fixture.open({ pending: chain.slice(2) });
  expect(replayed.head).toMatchObject({ count: 3, selfHash });
  expect(replayed.damage).toContain('lines that the daemon did not write: 1');
  expect(fixture.trusted).toEqual({ count: 3, head: selfHash });
});

test('a chain that was cut short stays visibly short, and goes on behind the gap', async () => {
  await using fixture = await storeFixture();
  const chain = sealedChain(5, fixture);
  (await fixture.open()).append(chain);
  writeFileSync(join(fixture.folder, 'INDEX.jsonl'), linesOf(chain.slice(0, 3)));
  for (const sealed of chain.slice(3)) rmSync(fileOf(fixture.folder, sealed));
  const store = await fixture.open();
  expect(store.damage).toContain('missing from its index: 2');
  expect(store.head).toMatchObject({ count: 5, selfHash: nth(chain, -1).selfHash, receiptId: null });
  const next = sealedChain(1, { ...fixture, after: store.head });
  store.append(next);
  expect((await store.page({ limit: 10 })).ids).toEqual(idsOf([...next, ...chain.slice(0, 3).reverse()]));
  const later = await fixture.open();
  expect(later.head).toMatchObject({ count: 6, selfHash: nth(next, 0).selfHash });
  expect(later.damage).toContain('From line 4 on');
});

test('a checkpoint that is gone or not ours is reported; an older one of ours is signed anew', async () => {
  await using fixture = await storeFixture();
  const first = await fixture.open();
  first.append(sealedChain(1, fixture));
  const path = join(fixture.folder, 'CHECKPOINT');
  const older = readFileSync(path);
  first.append(sealedChain(1, { ...fixture, after: first.head }));
  const newest = readFileSync(path);
  writeFileSync(path, older);
  expect((await fixture.open()).repairs.join()).toContain('stood at receipt 1');
  expect(readFileSync(path)).toEqual(newest);
  rmSync(path);
  expect((await fixture.open()).damage).toContain('CHECKPOINT is missing');
  writeFileSync(path, newest.toString().replace('\n2\n', '\n3\n'));
  expect((await fixture.open()).damage).toContain('CHECKPOINT is missing');
});

test('a signed checkpoint vouches for the chain where the daemon remembers less', async () => {
  await using fixture = await storeFixture();
  (await fixture.open()).append(sealedChain(4, fixture));
  const remembered = fixture.trusted;
  fixture.trusted = null;
  const store = await fixture.open();
  expect([store.head.count, store.damage]).toEqual([4, null]);
  expect(fixture.trusted).toEqual(remembered);
});

test('without the signing key the chain goes on and the checkpoint stays', async () => {
  await using fixture = await storeFixture();
  const first = await fixture.open();
  first.append(sealedChain(1, fixture));
  const path = join(fixture.folder, 'CHECKPOINT');
  const signed = readFileSync(path);
  const locked = await fixture.open({ signingKey: { signer: null, verifierKey: first.verifierKey } });
  locked.append(sealedChain(1, { ...fixture, after: locked.head }));
  await locked.sync([]);
  expect(readFileSync(path)).toEqual(signed);
  const unlocked = await fixture.open();
  expect([unlocked.head.count, unlocked.damage]).toEqual([2, null]);
  expect(readFileSync(path)).not.toEqual(signed);
});

/** The system's calls, with a fault at one of them, counted from 1. */
function failingDisk(failAt: number, code: string): DiskCalls & { calls: number } {
  const disk = { calls: 0, ...systemDisk };
  const fail = () => {
    disk.calls += 1;
    if (disk.calls === failAt) throw Object.assign(new Error(code), { code });
  };
  disk.open = (...args) => {
    fail();
    return systemDisk.open(...args);
  };
  disk.write = (descriptor, bytes, offset, length, position) => {
    // Half of it still finds room, as on a disk that fills up.
    if (disk.calls + 1 === failAt) systemDisk.write(descriptor, bytes, offset, length >> 1, position);
    fail();
    return systemDisk.write(descriptor, bytes, offset, length, position);
  };
  disk.rename = (...args) => {
    fail();
    systemDisk.rename(...args);
  };
  return disk;
}

test.each([
  ['ENOSPC', 'storage_full'],
  ['EIO', 'storage_failed'],
])('%s at any write leaves the chain as it was, and the batch can be repeated', async (errno, code) => {
  await using fixture = await storeFixture();
  const begun = sealedChain(9, fixture);
  (await fixture.open()).append(begun);
  const trusted = fixture.trusted;
  const snapshot = () =>
    readdirSync(fixture.folder).map((name) => [name, readFileSync(join(fixture.folder, name), 'base64')]);
  const before = snapshot();
  let failures = 0;
  for (let failAt = 1; ; failAt += 1) {
    const disk = failingDisk(failAt, errno);
    const store = await fixture.open({ disk });
    const { head } = store;
    const batch = sealedChain(3, { ...fixture, after: head });
    let failed: unknown;
    try {
      store.append(batch);
    } catch (error) {
      failed = error;
    }
    if (failed === undefined) break;
    failures += 1;
    expect(failed).toMatchObject({ code });
    expect(snapshot()).toEqual(before);
    expect(store.head).toEqual(head);
    expect(fixture.trusted).toEqual(trusted);
    store.append(batch);
    expect(store.head).toMatchObject({ count: 12, selfHash: nth(batch, -1).selfHash });
    expect(indexOf(fixture.folder)).toBe(linesOf([...begun, ...batch]));
    for (const sealed of batch) rmSync(fileOf(fixture.folder, sealed));
    for (const [name = '', bytes = ''] of before) writeFileSync(join(fixture.folder, name), bytes, 'base64');
    fixture.trusted = trusted;
  }
  // Three receipts, the index, the checkpoint: open and write of each. The checkpoint gets longer with a tenth receipt,
  // so its old file is only opened, and the new one renamed.
  expect(failures).toBe(12);
});

test('a checkpoint of the same length is written over, and no other file with it', async () => {
  await using fixture = await storeFixture();
  const store = await fixture.open();
  const path = join(fixture.folder, 'CHECKPOINT');
  const inode = statSync(path).ino;
  store.append(sealedChain(1, fixture));
  expect(statSync(path).ino).toBe(inode);
  const other = join(fixture.folder, '..', 'other');
  for (const put of [
    () => linkSync(path, other),
    () => {
      renameSync(path, other);
      symlinkSync(other, path);
    },
  ]) {
    put();
    const kept = readFileSync(other);
    store.append(sealedChain(1, { ...fixture, after: store.head }));
    expect(readFileSync(other)).toEqual(kept);
    expect(statSync(path)).toMatchObject({ nlink: 1 });
    expect(parseCheckpoint(readFileSync(path, 'utf8'))?.count).toBe(store.head.count);
    rmSync(other);
  }
});

test('an fsync that fails is fatal', async () => {
  await using fixture = await storeFixture();
  const disk = {
    ...systemDisk,
    sync: () => Promise.reject(Object.assign(new Error('EIO'), { code: 'EIO' })),
  };
  const store = await fixture.open({ disk });
  const chain = sealedChain(1, fixture);
  store.append(chain);
  await expect(store.sync(idsOf(chain))).rejects.toMatchObject({ code: 'storage_failed', fatal: true });
});

test('a receipt that was removed before its sync is told, and the sync goes on', async () => {
  await using fixture = await storeFixture();
  const store = await fixture.open();
  const chain = sealedChain(2, fixture);
  store.append(chain);
  rmSync(fileOf(fixture.folder, nth(chain, 0)));
  await store.sync(idsOf(chain));
  expect(fixture.notices.join()).toContain(nth(chain, 0).receipt.receipt_id);
});

test('a link, a folder or a FIFO in the place of a receipt is not read', async () => {
  await using fixture = await storeFixture();
  const store = await fixture.open();
  const chain = sealedChain(1, fixture);
  store.append(chain);
  const path = fileOf(fixture.folder, nth(chain, 0));
  const { execFileSync } = await import('node:child_process');
  for (const put of [
    () => execFileSync('ln', ['-s', '/etc/hostname', path]),
    () => mkdir(path),
    () => execFileSync('mkfifo', [path]),
  ]) {
    rmSync(path, { recursive: true });
    await put();
    expect(await store.read(nth(chain, 0).receipt.receipt_id)).toBeNull();
  }
});

test('index lines that someone appends while the daemon runs are cut off by the next write, and told', async () => {
  await using fixture = await storeFixture();
  const store = await fixture.open();
  const chain = sealedChain(2, fixture);
  store.append(chain.slice(0, 1));
  appendFileSync(join(fixture.folder, 'INDEX.jsonl'), 'garbage\n');
  store.append(chain.slice(1));
  expect(indexOf(fixture.folder)).toBe(linesOf(chain));
  expect(fixture.notices.join()).toContain('was changed while the daemon ran');
});

test('pages go backwards to the first receipt, and by run', async () => {
  await using fixture = await storeFixture();
  const store = await fixture.open();
  const [runA, runB] = [newId('run'), newId('run')];
  const chain = sealedChain(10, { ...fixture, runId: (at) => (at % 3 === 0 ? runA : runB) });
  store.append(chain);
  const newestFirst = idsOf(chain).reverse();
  const first = await store.page({ limit: 4 });
  expect(first).toEqual({ ids: newestFirst.slice(0, 4), next: newestFirst[3] });
  expect(await store.page({ limit: 6, before: first.next ?? '' })).toEqual({
    ids: newestFirst.slice(4),
    next: null,
  });
  const ofA = idsOf(chain.filter((_, at) => at % 3 === 0));
  expect(await store.receiptsOfRun(runA)).toEqual(ofA);
  expect(await store.page({ limit: 2, runId: runA })).toEqual({ ids: ofA.slice(2).reverse(), next: ofA[2] });
  expect(await store.page({ limit: 2, runId: runA, before: ofA[2] ?? '' })).toEqual({
    ids: ofA.slice(0, 2).reverse(),
    next: null,
  });
  expect(await store.receiptsOfRun(newId('run'))).toEqual([]);
  await expect(store.page({ limit: 1, before: 'rcpt_20260301_000000990000' })).rejects.toMatchObject({
    code: 'unknown_receipt',
  });
});

test('index lines are read again from the disk', async () => {
  await using fixture = await storeFixture();
  const store = await fixture.open();
  const chain = sealedChain(3, { ...fixture, path: (seq) => `ä/${seq}` });
  store.append(chain);
  expect(await store.indexLine(2)).toBe(nth(chain, 1).indexLine);
  expect([await store.indexLine(0), await store.indexLine(4)]).toEqual([null, null]);
  expect(store.seqOf(nth(chain, 2).receipt.receipt_id)).toBe(3);
  expect(store.idOf(3)).toBe(nth(chain, 2).receipt.receipt_id);
  writeFileSync(join(fixture.folder, 'INDEX.jsonl'), '');
  expect(await store.indexLine(2)).toBeNull();
});
