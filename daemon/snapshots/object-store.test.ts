import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tempFolder } from '../lib/testing/temp-folder.ts';
import { blobId, toHex } from './blob.ts';
import { ObjectStore } from './object-store.ts';

const git = (folder: string, args: string[], input?: Buffer) =>
  execFileSync('git', [`--git-dir=${folder}`, ...args], {
    input,
    maxBuffer: 64 * 1024 * 1024,
    stdio: 'pipe',
  });

const packsIn = (folder: string) =>
  readdirSync(join(folder, 'objects/pack'))
    .filter((name) => name.endsWith('.pack'))
    .map((name) => join(folder, 'objects/pack', name));

const open = (folder: string, damaged: string[] = []) =>
  new ObjectStore(folder, (name) => damaged.push(name));

/** Lengths around every step of the length's encoding, and of the buffers that deflate is given. */
const lengths = [0, 1, 15, 16, 17, 63, 64, 65, 2047, 2048, 4096, 65_535, 65_536, 70_000, 300_000];
const samples = () =>
  lengths.flatMap((length) => [Buffer.alloc(length, 'line\n'), randomBytes(length)]).filter(Boolean);

test('writes packs that git verifies, checks and reads', async () => {
  await using temp = await tempFolder();
  const store = open(temp.path);
  const contents = samples();
  const ids = contents.map((bytes) => store.add(bytes));
  store.flush();
  expect(packsIn(temp.path)).toHaveLength(1);
  git(temp.path, ['verify-pack', ...packsIn(temp.path)]);
  git(temp.path, ['fsck', '--strict', '--full']);
  for (const [at, id] of ids.entries()) {
    const content = contents[at] ?? Buffer.of(0);
    expect(toHex(id)).toBe(git(temp.path, ['hash-object', '--stdin'], content).toString().trim());
    expect(git(temp.path, ['cat-file', 'blob', toHex(id)]).equals(content)).toBe(true);
    expect(store.read(id)?.equals(content)).toBe(true);
    expect(store.sizeOf(id)).toBeGreaterThan(0);
  }
  store.close();
});

test('reads what an earlier store left, and nothing else', async () => {
  await using temp = await tempFolder();
  const first = open(temp.path);
  const ids = Array.from({ length: 1000 }, (_, at) => first.add(Buffer.from(`content ${at}`)));
  first.flush();
  first.add(Buffer.from('never flushed'));
  first.close();
  const second = open(temp.path);
  for (const [at, id] of ids.entries()) expect(second.read(id)?.toString()).toBe(`content ${at}`);
  for (let at = 0; at < 1000; at += 1) expect(second.has(blobId(Buffer.from(`other ${at}`)))).toBe(false);
  expect(second.read(blobId(Buffer.from('never flushed')))).toBeNull();
  second.close();
});

test('writes a content once', async () => {
  await using temp = await tempFolder();
  const store = open(temp.path);
  store.add(Buffer.from('same'));
  store.flush();
  store.add(Buffer.from('same'));
  store.flush();
  expect(packsIn(temp.path)).toHaveLength(1);
  store.close();
});

test('git refuses to prune what no ref leads to', async () => {
  await using temp = await tempFolder();
  const store = open(temp.path);
  store.add(Buffer.from('precious'));
  store.flush();
  expect(() => git(temp.path, ['prune', '--expire=now'])).toThrow(/preciousObjects|precious-objects/);
  store.close();
});

test('compacts many packs to few, keeping what is needed and dropping the rest', async () => {
  await using temp = await tempFolder();
  const store = open(temp.path);
  const base = Array.from({ length: 2000 }, () => store.add(randomBytes(200)));
  store.flush();
  const added = [];
  for (let at = 0; !store.needsMerge; at += 1) {
    added.push(store.add(Buffer.from(`pack ${at}`)));
    store.flush();
  }
  expect(packsIn(temp.path)).toHaveLength(51);
  const largest = packsIn(temp.path).find((path) => readFileSync(path).length > 100_000);
  const needed = new Set([...base, ...added.filter((_, at) => at % 2 === 0)]);
  store.compact((id) => needed.has(id));
  expect(packsIn(temp.path).length).toBeLessThan(5);
  // The large one was all needed: it was not copied.
  expect(packsIn(temp.path)).toContain(largest);
  for (const id of [...base, ...added]) expect(store.has(id)).toBe(needed.has(id));
  git(temp.path, ['fsck', '--strict', '--full']);
  const known = git(temp.path, ['cat-file', '--batch-all-objects', '--batch-check=%(objectname)']).toString();
  expect(known.trim().split('\n')).toHaveLength(needed.size);
  store.compact(() => true);
  for (const id of needed) expect(store.read(id)).not.toBeNull();
  store.compact(() => false);
  expect(packsIn(temp.path)).toEqual([]);
  store.close();
});

test('clears away what a crash left of a pack', async () => {
  await using temp = await tempFolder();
  const first = open(temp.path);
  const id = first.add(Buffer.from('kept'));
  first.flush();
  first.close();
  const folder = join(temp.path, 'objects/pack');
  writeFileSync(join(folder, 'tmp_pack_0123456789abcdef'), 'half');
  writeFileSync(join(folder, 'pack-0000.pack'), 'no index yet');
  writeFileSync(join(folder, 'pack-0000.idx.tmp'), 'half');
  const second = open(temp.path);
  expect(second.read(id)?.toString()).toBe('kept');
  expect(readdirSync(folder)).toHaveLength(2);
  second.close();
});

test('goes on without a pack whose index is damaged, and tells which', async () => {
  await using temp = await tempFolder();
  const first = open(temp.path);
  const lost = first.add(Buffer.from('lost'));
  first.flush();
  first.close();
  const [pack = ''] = packsIn(temp.path);
  truncateSync(pack.replace(/pack$/, 'idx'), 100);
  const damaged: string[] = [];
  const second = open(temp.path, damaged);
  expect(damaged).toHaveLength(1);
  expect(second.has(lost)).toBe(false);
  second.add(Buffer.from('lost'));
  expect(second.read(lost)?.toString()).toBe('lost');
  second.close();
});

test('does not hand out a content that was altered on disk', async () => {
  await using temp = await tempFolder();
  const first = open(temp.path);
  const id = first.add(randomBytes(1000));
  first.flush();
  first.close();
  const [pack = ''] = packsIn(temp.path);
  const bytes = readFileSync(pack);
  bytes.writeUInt8(bytes.readUInt8(500) ^ 1, 500);
  rmSync(pack);
  writeFileSync(pack, bytes);
  const second = open(temp.path);
  expect(() => second.read(id)).toThrow();
  second.close();
});

test('keeps in memory what could not be written, and writes it when it can', async () => {
  await using temp = await tempFolder();
  const store = open(temp.path);
  const id = store.add(Buffer.from('patient'));
  const packs = join(temp.path, 'objects/pack');
  renameSync(packs, `${packs}-away`);
  expect(() => store.flush()).toThrow(expect.objectContaining({ code: 'storage_failed', fatal: false }));
  expect(store.read(id)?.toString()).toBe('patient');
  renameSync(`${packs}-away`, packs);
  store.flush();
  git(temp.path, ['cat-file', '-e', toHex(id)]);
  store.close();
});
