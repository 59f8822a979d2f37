import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import type { SnapshotRecord } from './entry-state.ts';
import { type OpenTree, openTree } from './testing/open-tree.ts';
import type { TreeKeeper } from './tree-keeper.ts';
import type { StartWorker } from './tree-thread.ts';

const hashOf = (content: string) => `sha256:${createHash('sha256').update(content).digest('hex')}`;
const idOf = (content: string) =>
  createHash('sha1')
    .update(`blob ${Buffer.byteLength(content)}\0${content}`)
    .digest('hex');

/** Content that deflates to about as many bytes. */
const noise = (seed: number, bytes: number) => {
  let text = '';
  for (let at = 0; text.length < bytes; at += 1)
    text += createHash('sha256').update(`${seed} ${at}`).digest('base64');
  return text.slice(0, bytes);
};

const snapshotOf = (seq: number, contents: readonly string[]): SnapshotRecord => ({
  snapshot_id: `snap_${seq}`,
  run_id: `run_s${seq}`,
  seq,
  entries: contents.map((content, at) => ({
    path: `file-${at}`,
    state: { mode: '100644', hash: hashOf(content), size: content.length, oid: idOf(content) },
  })),
});

const flush = (keeper: TreeKeeper, seq: number, contents: readonly string[]) =>
  keeper.flush({
    snapshots: [snapshotOf(seq, contents)],
    blobs: contents.map((content) => Buffer.from(content)),
  });

const kept = (keeper: TreeKeeper, seqs: readonly number[]) =>
  Promise.all(seqs.map(async (seq) => (await keeper.snapshot(`snap_${seq}`)) !== null));

const fsck = (tree: OpenTree) =>
  execFileSync('git', [`--git-dir=${tree.folder}`, 'fsck', '--strict', '--full'], { stdio: 'pipe' });

test('keeps as many snapshots as the limit says, and drops the oldest of one more', async () => {
  const limits = { maxCount: 3, maxBytes: 1024 * 1024 };
  await using tree = await openTree(undefined, { limits });
  for (const seq of [1, 2, 3]) await flush(tree.keeper, seq, [`content ${seq}`]);
  expect(await kept(tree.keeper, [1, 2, 3])).toEqual([true, true, true]);
  await flush(tree.keeper, 4, ['content 4']);
  expect(await kept(tree.keeper, [1, 2, 3, 4])).toEqual([false, true, true, true]);
  fsck(tree);
  await tree.reopen();
  expect(await kept(tree.keeper, [1, 2, 3, 4])).toEqual([false, true, true, true]);
  expect((await tree.keeper.read(idOf('content 4')))?.toString()).toBe('content 4');
  expect(await tree.keeper.snapshot('snap_4')).toEqual(snapshotOf(4, ['content 4']));
});

test('keeps as many bytes as the limit says, and drops contents that nothing needs any more', async () => {
  const limits = { maxCount: 100, maxBytes: 40_000 };
  await using tree = await openTree((root) => writeFileSync(join(root, 'shared'), noise(0, 10_000)), {
    limits,
  });
  // Each takes about 7,600 bytes, deflated; what the tree holds as well counts for nothing.
  for (const seq of [1, 2, 3, 4, 5]) await flush(tree.keeper, seq, [noise(seq, 10_000), noise(0, 10_000)]);
  expect(await kept(tree.keeper, [1, 2, 3, 4, 5])).toEqual([true, true, true, true, true]);
  for (const seq of [6, 7]) await flush(tree.keeper, seq, [noise(seq, 10_000)]);
  expect(await kept(tree.keeper, [1, 2, 3, 4, 5, 6, 7])).toEqual([
    false,
    false,
    true,
    true,
    true,
    true,
    true,
  ]);
  expect(await tree.keeper.has(idOf(noise(1, 10_000)))).toBe(false);
  for (const seq of [0, 3, 4, 5, 6, 7])
    expect((await tree.keeper.read(idOf(noise(seq, 10_000))))?.toString()).toBe(noise(seq, 10_000));
  fsck(tree);
});

test('stores a snapshot once, however often it is flushed', async () => {
  await using tree = await openTree();
  for (let time = 0; time < 3; time += 1) await flush(tree.keeper, 1, ['content']);
  expect(readFileSync(join(tree.folder, 'ring.jsonl'), 'utf8').trim().split('\n')).toHaveLength(1);
});

test('keeps what a run was handed until its snapshot is stored, though nothing else needs it', async () => {
  const limits = { maxCount: 100, maxBytes: 4_000 };
  await using tree = await openTree((root) => writeFileSync(join(root, 'file'), noise(1, 3_000)), { limits });
  const { changes } = await tree.run(() => writeFileSync(join(tree.root, 'file'), noise(2, 3_000)), 'run_s9');
  expect(changes[0]?.before?.oid).toBe(idOf(noise(1, 3_000)));
  // Pruned, and compacted, in between; and the daemon is started anew.
  for (const seq of [1, 2, 3, 4]) await flush(tree.keeper, seq, [noise(10 + seq, 3_000)]);
  await tree.reopen();
  for (const seq of [5, 6, 7, 8]) await flush(tree.keeper, seq, [noise(10 + seq, 3_000)]);
  expect(await tree.keeper.has(idOf(noise(11, 3_000)))).toBe(false);
  await tree.keeper.flush({ snapshots: [snapshotOf(9, [noise(1, 3_000)])], blobs: [] });
  expect((await tree.keeper.read(idOf(noise(1, 3_000))))?.toString()).toBe(noise(1, 3_000));
  fsck(tree);
});

test('drops the half of a record that a crash left in the ring', async () => {
  await using tree = await openTree();
  await flush(tree.keeper, 1, ['one']);
  await tree.keeper.close();
  appendFileSync(join(tree.folder, 'ring.jsonl'), '{"snapshot_id":"snap_2","run');
  await tree.reopen();
  await flush(tree.keeper, 3, ['three']);
  await tree.reopen();
  expect(await kept(tree.keeper, [1, 2, 3])).toEqual([true, false, true]);
});

test('reads no file again that is as the saved baseline says, and the others only', async () => {
  await using tree = await openTree((root) => {
    for (const name of ['a', 'b']) writeFileSync(join(root, name), name);
  });
  // Of the next start: what was written shortly before it was read is read again.
  await tree.reopen();
  await tree.keeper.close();
  const lines = () => readFileSync(join(tree.folder, 'baseline.jsonl'), 'utf8').trim().split('\n');
  const old = lines().filter((line) => line.startsWith('["a"') || line.startsWith('["b"'));
  expect(old).toHaveLength(2);
  // A hash that the content does not have is still there afterwards: nobody looked.
  const settled = old.map((line) => line.replace(/,[01],"[0-9a-f]{64}"/, `,0,"${'0'.repeat(64)}"`));
  writeFileSync(join(tree.folder, 'baseline.jsonl'), `${[lines()[0], ...settled].join('\n')}\n`);
  appendFileSync(join(tree.root, 'b'), '!');
  const keeper = await tree.reopen();
  await keeper.close();
  expect(lines().find((line) => line.startsWith('["a"'))).toContain('0'.repeat(64));
  expect(lines().find((line) => line.startsWith('["b"'))).toContain(hashOf('b!').slice('sha256:'.length));
});

test('stores contents anew that the baseline names, but that were lost', async () => {
  await using tree = await openTree((root) => writeFileSync(join(root, 'file'), 'content'));
  await tree.keeper.close();
  execFileSync('rm', ['-rf', join(tree.folder, 'objects')]);
  const keeper = await tree.reopen();
  expect((await keeper.read(idOf('content')))?.toString()).toBe('content');
});

test('git reads what is kept, also by a link to the folder', async () => {
  await using tree = await openTree((root) => {
    writeFileSync(join(root, 'file'), 'content\n');
    mkdirSync(join(root, '.service'));
  });
  symlinkSync(tree.folder, join(tree.root, '.service/snapshots'));
  const git = ['--git-dir=.service/snapshots', 'cat-file', 'blob', idOf('content\n')];
  expect(execFileSync('git', git, { cwd: tree.root }).toString()).toBe('content\n');
});

test('fails a run whose pre-images can not be stored, and hands its changes to the next', async () => {
  await using tree = await openTree((root) => writeFileSync(join(root, 'file'), 'one'));
  const packs = join(tree.folder, 'objects/pack');
  renameSync(packs, `${packs}-away`);
  // What was there before the first run is stored; what it made can't be.
  expect((await tree.run(() => writeFileSync(join(tree.root, 'file'), 'two'))).changes).toHaveLength(1);
  const failed = tree.run(() => writeFileSync(join(tree.root, 'file'), 'three'), 'run_failed');
  await expect(failed).rejects.toMatchObject({ code: 'storage_failed', fatal: false });
  expect(tree.notices.map(({ code }) => code)).toContain('not_stored');
  renameSync(`${packs}-away`, packs);
  const { changes } = await tree.keeper.end('run_failed');
  expect(changes).toMatchObject([{ before: { hash: hashOf('two') }, after: { hash: hashOf('three') } }]);
  expect((await tree.keeper.read(idOf('two')))?.toString()).toBe('two');
  fsck(tree);
});

test('does not look at the tree while the door writes to it', async () => {
  await using tree = await openTree();
  await tree.keeper.begin('run_a');
  const written = await tree.keeper.announce();
  writeFileSync(join(tree.root, 'door'), 'door');
  const order: string[] = [];
  const ended = tree.keeper.end('run_a').then(({ changes }) => {
    order.push('ended');
    return changes;
  });
  // Any other call gets its answer meanwhile.
  await tree.keeper.has(idOf(''));
  order.push('noted');
  const after = { mode: '100644' as const, hash: hashOf('door'), size: 4, oid: idOf('door') };
  const noted = tree.keeper.note([{ path: 'door', before: null, after }], []);
  written();
  await noted;
  expect(await ended).toEqual([]);
  expect(order).toEqual(['noted', 'ended']);
});

test('lets the door write only when it is not looking at the tree', async () => {
  await using tree = await openTree();
  const order: string[] = [];
  const files = Array.from({ length: 200 }, (_, at) => join(tree.root, `command-${at}`));
  await tree.keeper.begin('run_a');
  for (const file of files) writeFileSync(file, 'command');
  const ended = tree.keeper.end('run_a').then(({ changes }) => {
    order.push('looked');
    return changes;
  });
  // In this turn the end is asked for, so that the look is under way.
  await nextTurn();
  const written = await tree.keeper.announce();
  order.push('may write');
  writeFileSync(join(tree.root, 'door'), 'door');
  written();
  expect(await ended).toHaveLength(files.length);
  expect(order).toEqual(['looked', 'may write']);
});

/** Starts workers that can be told to die, and keeps them in a list. */
function mortalWorkers(workers: Worker[]): StartWorker {
  return (workerData) => {
    const file = join(import.meta.dirname, 'testing/mortal-worker.ts');
    const worker = new Worker(file, { workerData, execArgv: [] });
    workers.push(worker);
    return worker;
  };
}

async function die(worker: Worker | undefined): Promise<void> {
  const exit = worker && once(worker, 'exit');
  worker?.postMessage('die');
  await exit;
}

test('starts another worker for one that died, and loses no change of a command under way', async () => {
  const workers: Worker[] = [];
  const startWorker = mortalWorkers(workers);
  await using tree = await openTree((root) => writeFileSync(join(root, 'file'), 'before'), { startWorker });
  await tree.keeper.begin('run_a');
  writeFileSync(join(tree.root, 'file'), 'after');
  const dead = die(workers[0]);
  const pending = tree.keeper.read(idOf('before'));
  await expect(pending).rejects.toMatchObject({ code: 'storage_failed', fatal: false });
  await dead;
  expect(tree.notices.map(({ code }) => code)).toEqual(['worker_restarted']);
  const { changes } = await tree.keeper.end('run_a');
  expect(changes).toMatchObject([{ path: 'file', before: { hash: hashOf('before') } }]);
  expect(workers).toHaveLength(2);
  expect(await tree.run(() => undefined)).toMatchObject({ changes: [] });
});

test('hands out again what a run was handed, where the daemon died before the receipt was written', async () => {
  await using tree = await openTree((root) => writeFileSync(join(root, 'file'), 'before'));
  const first = await tree.run(() => writeFileSync(join(tree.root, 'file'), 'after'), 'run_dead');
  expect(first.changes).toHaveLength(1);
  const again = await (await tree.reopen({ interrupted: ['run_dead'] })).end('run_dead');
  expect(again).toEqual(first);
  // A third time only where it died again.
  const keeper = await tree.reopen({ interrupted: ['run_other'] });
  expect((await keeper.end('run_other')).changes).toEqual([]);
  await keeper.flush({ snapshots: [{ ...snapshotOf(1, ['before']), run_id: 'run_dead' }], blobs: [] });
  const settled = await tree.reopen({ interrupted: ['run_dead'] });
  expect((await settled.end('run_dead')).changes).toEqual([]);
});

test('remembers, when the daemon dies, what a command did to a file that the door wrote since', async () => {
  await using tree = await openTree((root) => writeFileSync(join(root, 'file'), 'before'));
  const state = (content: string) => ({
    mode: '100644' as const,
    hash: hashOf(content),
    size: content.length,
    oid: idOf(content),
  });
  await tree.keeper.begin('run_dead');
  writeFileSync(join(tree.root, 'file'), 'command');
  const contents = ['command', 'door'].map((text) => ({ oid: idOf(text), bytes: Buffer.from(text) }));
  writeFileSync(join(tree.root, 'file'), 'door');
  await tree.keeper.note([{ path: 'file', before: state('command'), after: state('door') }], contents);
  const keeper = await tree.reopen({ interrupted: ['run_dead'] });
  const { changes, diffs } = await keeper.end('run_dead');
  expect(changes).toEqual([{ path: 'file', before: state('before'), after: state('command') }]);
  expect(diffs).toMatchObject([{ hunks: [{ lines: expect.arrayContaining(['-before', '+command']) }] }]);
});

test('gives up on a worker that dies again and again, and says so', async () => {
  const workers: Worker[] = [];
  const startWorker = mortalWorkers(workers);
  await using tree = await openTree(undefined, { startWorker });
  for (let death = 0; death < 4; death += 1) {
    await die(workers[death]);
    await tree.keeper.ready.catch(() => undefined);
  }
  expect(tree.notices.map(({ code }) => code).at(-1)).toBe('worker_lost');
  await expect(tree.keeper.has(idOf(''))).rejects.toMatchObject({ code: 'storage_failed' });
  await expect(tree.keeper.ready).rejects.toMatchObject({ code: 'storage_failed' });
  expect(existsSync(join(tree.folder, 'HEAD'))).toBe(true);
});
