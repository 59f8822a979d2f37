import { closeSync, fstatSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { tempFolder } from '../../lib/testing/temp-folder.ts';
import { genesisHash, sealReceipt } from '../receipt-format.ts';
import { draftOf, type MadeChain, makeChain, writeReceipt } from '../testing/make-chain.ts';
import { checkReceipt } from './check-receipt.ts';
import { inlineRunner, threadRunner } from './run-tasks.ts';
import { verifyChain } from './verify-chain.ts';
import { verifyFolder } from './verify-folder.ts';

describe('verification in ranges', () => {
  test.for([1, 200, 1000, 5000, 1_000_000])('finds the same with ranges of %i bytes', async (rangeBytes) => {
    await using folder = await tempFolder();
    const chain = makeChain({ folder: join(folder.path, 'chain'), count: 25 });
    await using runner = inlineRunner();
    expect(await inRanges(runner, chain, rangeBytes)).toMatchObject({
      checked: 25,
      lastHash: chain.head,
      fault: undefined,
    });
    for (const seq of [1, 2, 13, 24, 25]) {
      const path = join(chain.folder, `${chain.receiptIds[seq - 1]}.json`);
      const original = readFileSync(path);
      writeFileSync(path, original.toString().replace('"tool":"', '"tool":"x'));
      expect(await inRanges(runner, chain, rangeBytes)).toMatchObject({
        checked: seq - 1,
        fault: { field: 'tool', seq, receipt_id: chain.receiptIds[seq - 1] },
      });
      writeFileSync(path, original);
    }
    for (const line of [1, 12, 25]) {
      const path = join(chain.folder, 'INDEX.jsonl');
      const original = readFileSync(path, 'utf8');
      const lines = original.split('\n');
      lines.splice(line - 1, 1);
      writeFileSync(path, lines.join('\n'));
      const { checked, fault } = await inRanges(runner, chain, rangeBytes);
      // Without its last line, the chain is only shorter.
      expect([checked, fault?.field]).toEqual([line - 1, line === 25 ? undefined : 'index']);
      writeFileSync(path, original);
    }
  });

  test('finds the same in threads, and tells its progress', async () => {
    await using folder = await tempFolder();
    const chain = makeChain({ folder: join(folder.path, 'chain'), count: 60 });
    await using runner = threadRunner(2);
    const progress: number[] = [];
    const found = await inRanges(runner, chain, 2000, (checked) => progress.push(checked));
    expect(found).toMatchObject({ checked: 60, lastHash: chain.head, fault: undefined });
    expect(progress.length).toBeGreaterThan(10);
    expect([progress.at(-1), progress]).toEqual([60, progress.toSorted((a, b) => a - b)]);
  });
});

describe('verification of a folder', () => {
  test('uses threads for a long chain, and ends them when it is aborted', async () => {
    await using folder = await tempFolder();
    const chain = makeChain({ folder: join(folder.path, 'chain'), count: 400 });
    const { key, head, wsId } = chain;
    expect(await verifyFolder(chain.folder, { key, head, wsId })).toEqual({
      valid: true,
      fault: null,
      checked: 400,
      count: 400,
      head,
      signature: 'verified',
      repairs: [],
    });
    const aborted = AbortSignal.abort(new Error('enough'));
    await expect(verifyFolder(chain.folder, { signal: aborted })).rejects.toThrow('enough');
  });

  test('looks at what was there when it took the folder in, and not at what is added since', async () => {
    await using folder = await tempFolder();
    const chain = makeChain({ folder: join(folder.path, 'chain'), count: 5 });
    const { wsId, head: prevHash } = chain;
    const trusted = { count: 5, head: prevHash };
    const onTaken = () => writeReceipt(chain.folder, sealReceipt(draftOf({ seq: 6, wsId, prevHash })));
    expect(await verifyFolder(chain.folder, { trusted, onTaken })).toMatchObject({ valid: true, checked: 5 });
    expect(await verifyFolder(chain.folder, { trusted })).toMatchObject({ fault: { field: 'checkpoint' } });
    expect(await verifyFolder(chain.folder)).toMatchObject({ valid: true, checked: 6 });
  });

  test('passes over temporary files, and takes an empty chain for a valid one', async () => {
    await using folder = await tempFolder();
    const { folder: path, key, head, wsId } = makeChain({ folder: join(folder.path, 'chain'), count: 0 });
    writeFileSync(join(path, `.durable-${'0a'.repeat(16)}.tmp`), 'half');
    expect(await verifyFolder(path, { key, head, wsId })).toMatchObject({
      valid: true,
      head: genesisHash(wsId),
    });
    writeFileSync(join(path, '.durable-0a.tmp'), 'half');
    expect(await verifyFolder(path)).toMatchObject({ fault: { field: 'file' } });
  });

  test('misses no CHECKPOINT that the daemon never wrote', async () => {
    await using folder = await tempFolder();
    const wsId = 'ws_0123456789abcdef';
    const nothing = { count: 0, head: genesisHash(wsId) };
    expect(await verifyFolder(folder.path, { wsId, trusted: nothing })).toMatchObject({
      valid: true,
      checked: 0,
    });
    expect(await verifyFolder(folder.path, { wsId, trusted: { ...nothing, count: 1 } })).toMatchObject({
      fault: { field: 'checkpoint' },
    });
    expect(await verifyFolder(folder.path, { wsId })).toMatchObject({ fault: { field: 'checkpoint' } });
  });
});

test('one receipt alone is judged by its place and its index line', () => {
  const wsId = 'ws_0123456789abcdef';
  const prevHash = genesisHash(wsId);
  const { bytes, indexLine, receipt, selfHash } = sealReceipt(draftOf({ seq: 1, wsId, prevHash }));
  const place = { seq: 1, prevHash, wsId, indexLine };
  expect(checkReceipt(bytes, place)).toEqual({ selfHash, receiptId: receipt.receipt_id });
  expect(checkReceipt(bytes, { ...place, indexLine: indexLine.trimEnd() })).toHaveProperty(
    'selfHash',
    selfHash,
  );
  expect(checkReceipt(bytes, { ...place, seq: 2 })).toMatchObject({ field: 'index', seq: 2 });
  expect(checkReceipt(bytes, { ...place, prevHash: selfHash })).toMatchObject({ field: 'prev_receipt_hash' });
  expect(checkReceipt(bytes, { ...place, wsId: 'ws_zzzzzzzzzzzzzzzz' })).toMatchObject({
    field: 'workspace_id',
  });
  expect(checkReceipt(bytes, { ...place, indexLine: '' })).toMatchObject({
    field: 'index',
    receipt_id: null,
  });
  expect(checkReceipt(Buffer.from(bytes.toString().replace('u_', 'U_')), place)).toMatchObject({
    field: 'user_id',
    receipt_id: receipt.receipt_id,
  });
});

async function inRanges(
  runner: Parameters<typeof verifyChain>[0],
  chain: MadeChain,
  rangeBytes: number,
  onProgress: (checked: number) => void = () => undefined,
) {
  const { folder, wsId } = chain;
  const index = openSync(join(folder, 'INDEX.jsonl'), 'r');
  try {
    const indexSize = fstatSync(index).size;
    const place = { genesis: genesisHash(wsId), signedLines: 0, markSeq: 3, onProgress, rangeBytes };
    return await verifyChain(runner, { folder, index, indexSize, wsId, ...place });
  } finally {
    closeSync(index);
  }
}
