import { lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PathChangedError } from './confined-folder.ts';
import {
  linkInside,
  makeFolderInside,
  removeEmptyParents,
  removeInside,
  renameInside,
  writeInside,
} from './confined-fs.ts';
import { listInside, openFileInside, readInside, statInside } from './confined-reads.ts';
import { hashDescriptor } from './content-hash.ts';
import { systemErrorCode } from './durable-errors.ts';
import { OutsideRootError } from './open-folder.ts';
import { readEntry } from './read-entry.ts';
import { resolveInside } from './resolve-inside.ts';
import { LineProcess } from './testing/line-process.ts';
import { tempFolder } from './testing/temp-folder.ts';

const tries = 10_000;
const secret = 'OUTSIDE';
const swapper = join(import.meta.dirname, 'testing/folder-swapper.ts');

test('nothing outside is read, written or removed while another process swaps a folder for a link to it', async () => {
  await using base = await tempFolder();
  const root = join(base.path, 'root');
  const outside = join(base.path, 'outside');
  const names = ['file', 'victim', 'from', 'made-file', 'made-folder/file', 'made-target'];
  for (const [folder, content] of [
    [join(root, 'folder'), 'inside'],
    [outside, secret],
  ] as const) {
    mkdirSync(join(folder, 'made-folder'), { recursive: true });
    mkdirSync(join(folder, 'made-empty/below'), { recursive: true });
    for (const name of names) writeFileSync(join(folder, name), content);
  }
  const before = pictureOf(outside);
  await using process = LineProcess.start(swapper, [root, outside]);
  await process.line((line) => line === 'swapping');

  const counts: Record<string, { done: number; refused: number }> = {};
  let attempt = 0;
  for (; attempt < tries || (attempt < 20 * tries && !haveMet(counts)); attempt += 1) {
    const [name, work] = operations[attempt % operations.length] ?? ['', () => ''];
    counts[name] ??= { done: 0, refused: 0 };
    try {
      expect(String(work(root, attempt))).not.toContain(secret);
      counts[name].done += 1;
    } catch (error) {
      if (!isRefusal(error)) throw error;
      counts[name].refused += 1;
    }
  }
  process.kill();
  const ending = await process.ended;
  expect({ ...ending, errors: process.errors }).toEqual({ code: null, signal: 'SIGKILL', errors: '' });

  console.log(`${attempt} tries against a folder that is swapped for a link:`, JSON.stringify(counts));
  expect(pictureOf(outside)).toEqual(before);
  // It would prove nothing if the two had never met.
  expect(haveMet(counts)).toBe(true);
});

type Operation = (root: string, attempt: number) => unknown;

function haveMet(counts: Readonly<Record<string, { done: number; refused: number }>>): boolean {
  return Object.values(counts).every(({ done, refused }) => done > 0 && refused > 0);
}

const anything = { expect: 'anything' } as const;
const bytes = Buffer.from('written');

const operations: readonly (readonly [string, Operation])[] = [
  ['write', (root) => writeInside(root, 'folder/file', bytes, anything)],
  ['write new', (root, attempt) => writeInside(root, `folder/made-${attempt}`, bytes, { expect: 'absent' })],
  ['write deep', (root, attempt) => writeInside(root, `folder/made-${attempt}/a/b`, bytes, anything)],
  ['read', (root) => present(readInside(root, 'folder/file', { maxBytes: 100 })).bytes],
  ['read entry', (root) => present(readEntry(root, 'folder/file')).bytes],
  ['open', openAndHash],
  ['stat', (root) => present(statInside(root, 'folder/file')).kind],
  ['list', (root) => present(listInside(root, 'folder')).length],
  [
    'remove',
    (root) => {
      writeInside(root, 'folder/victim', bytes, anything);
      removeInside(root, 'folder/victim', anything);
    },
  ],
  [
    'rename',
    (root) => {
      writeInside(root, 'folder/from', bytes, anything);
      renameInside(root, 'folder/from', 'folder/made-target', { from: 'anything', to: 'anything' });
    },
  ],
  ['link', (root) => linkInside(root, 'folder/made-link', Buffer.from('file'), anything)],
  ['make folder', (root, attempt) => makeFolderInside(root, `folder/made-${attempt}/below`)],
  [
    'remove parents',
    (root) => {
      makeFolderInside(root, 'folder/made-empty/below');
      const removed = removeEmptyParents(root, 'folder/made-empty/below/x', (folder) => folder === 'folder');
      if (removed.length === 0) throw new PathChangedError('folder', 'nothing was removed');
    },
  ],
  [
    'resolve',
    (root) => readInside(root, resolveInside(root, 'folder/file', 'follow'), { maxBytes: 100 })?.bytes,
  ],
];

function openAndHash(root: string): string | undefined {
  using file = openFileInside(root, 'folder/file');
  const open = present(file);
  return hashDescriptor(open.descriptor, open.stat.size)?.hash;
}

/** There is a moment in each round when the path names nothing. */
function present<T>(found: T | null): T {
  if (found === null) throw new PathChangedError('folder', 'nothing is there');
  return found;
}

function isRefusal(error: unknown): boolean {
  if (error instanceof PathChangedError || error instanceof OutsideRootError) return true;
  return ['ENOENT', 'ENOTDIR', 'EEXIST', 'ENOTEMPTY'].includes(systemErrorCode(error) ?? '');
}

/** Names, contents and times: also what was made and removed again leaves its mark on the folder's. */
function pictureOf(folder: string): unknown {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .map((entry) => join(entry.parentPath, entry.name))
    .concat(folder)
    .sort()
    .map((path) => {
      const stat = lstatSync(path, { bigint: true });
      return [path, stat.ino, stat.mtimeNs, stat.ctimeNs, stat.isFile() ? readFileSync(path, 'utf8') : null];
    });
}
