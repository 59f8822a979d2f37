import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tempFolder } from '../../daemon/lib/testing/temp-folder.ts';
import { deep } from './crash/crash-points.ts';
import { expectIntact } from './crash/expect-intact.ts';
import { done } from './crash/mutation-kinds.ts';
import { hashOf } from './crash/receipt-replay.ts';
import { WorkspaceDaemon } from './crash/workspace-daemon.ts';

const WRITERS = 64;
const MUTATIONS = deep ? 10_000 : 2_000;

test('64 writers at once make one chain, with every answered receipt in it once', {
  timeout: 600_000,
}, async () => {
  await using it = await newWorkspace();
  await using daemon = await WorkspaceDaemon.start(it);
  const ids: string[] = [];
  const begun = performance.now();
  await Promise.all(
    Array.from({ length: WRITERS }, async (_, writer) => {
      for (let turn = 0; turn * WRITERS + writer < MUTATIONS; turn += 1) {
        const path = `folder-${writer % 8}/file-${writer}.txt`;
        const { receiptId } = await done(daemon.write(path, `${writer} wrote ${turn}\n`));
        if (receiptId !== null) ids.push(receiptId);
      }
    }),
  );
  const seconds = (performance.now() - begun) / 1000;
  const chain = await expectIntact(daemon, it);
  expect(chain.map(({ receipt_id }) => receipt_id)).toEqual(ids.toSorted());
  expect(ids).toHaveLength(MUTATIONS);
  console.info(
    `${WRITERS} writers made ${MUTATIONS} mutations in ${seconds.toFixed(1)} s ` +
      `(${Math.round(MUTATIONS / seconds)} a second): ${chain.length} receipts in one chain`,
  );
  await daemon.end();
  await using again = await WorkspaceDaemon.start(it);
  expect(await expectIntact(again, it)).toHaveLength(MUTATIONS);
});

test('writers of one and the same file come one after the other, each receipt beginning where the last one ended', {
  timeout: 300_000,
}, async () => {
  await using it = await newWorkspace();
  await using daemon = await WorkspaceDaemon.start(it);
  const turns = deep ? 100 : 20;
  await Promise.all(
    Array.from({ length: 16 }, async (_, writer) => {
      for (let turn = 0; turn < turns; turn += 1)
        await done(daemon.write('shared.txt', `${writer} wrote ${turn}\n`));
    }),
  );
  const chain = await expectIntact(daemon, it);
  expect(chain).toHaveLength(16 * turns);
  let previous = 'absent';
  const contents = new Set<string>();
  for (const { files } of chain) {
    expect(files).toHaveLength(1);
    expect(files[0]?.before_hash).toBe(previous);
    previous = files[0]?.after_hash ?? '';
    contents.add(previous);
  }
  const written = Array.from({ length: 16 * turns }, (_, at) =>
    hashOf(`${at % 16} wrote ${Math.floor(at / 16)}\n`),
  );
  expect(contents).toEqual(new Set(written));
  console.info(`16 writers wrote one file ${chain.length} times`);
});

async function newWorkspace() {
  const folder = await tempFolder();
  const project = join(folder.path, 'project');
  mkdirSync(project);
  return {
    project,
    dataDir: join(folder.path, 'data'),
    start: new Map<string, string>(),
    acknowledged: new Set<string>(),
    poolThreads: 4,
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}
