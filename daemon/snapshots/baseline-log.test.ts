import { readFileSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tempFolder } from '../lib/testing/temp-folder.ts';
import { BaselineLog, type Move } from './baseline-log.ts';
import { blobId } from './blob.ts';
import { TreeIndex } from './tree-index.ts';

const move = (path: string): Move => {
  const sha = blobId(Buffer.from(path));
  return [path, { mode: '100644', size: 1, mtimeMs: 1, ctimeMs: 1, ino: 1, isRacy: false, sha, id: null }];
};

function open(path: string) {
  const log = new BaselineLog(path);
  const index = new TreeIndex();
  const isThere = log.load(index);
  return { log, isThere, paths: () => [...index.leavesBelow('')].map(([each]) => each).sort() };
}

test('what is appended behind a line that a crash cut short is not lost with it', async () => {
  await using folder = await tempFolder();
  const path = join(folder.path, 'baseline.jsonl');
  const first = open(path);
  expect(first.isThere).toBe(false);
  first.log.rewrite(new TreeIndex());
  first.log.append([move('a'), move('b')]);
  truncateSync(path, readFileSync(path).length - 5);

  const second = open(path);
  expect(second.paths()).toEqual(['a']);
  second.log.append([move('c')]);
  second.log.append([['a', null]]);
  expect(open(path).paths()).toEqual(['c']);
});
