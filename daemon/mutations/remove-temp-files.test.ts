import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tempFolder } from '../lib/testing/temp-folder.ts';
import type { Step } from './mutation-plan.ts';
import { removeTempFiles } from './remove-temp-files.ts';

const temp = '.tallystick-0123456789abcdef.tmp';

const writeOf = (path: string) => ({ kind: 'write', path }) as Step;

test('removes what a write that was cut short left beside its file, and nothing else', async () => {
  await using folder = await tempFolder();
  const root = join(folder.path, 'project');
  for (const name of ['a', 'b', 'elsewhere']) {
    mkdirSync(join(root, name), { recursive: true });
    writeFileSync(join(root, name, temp), 'half');
    writeFileSync(join(root, name, '.tallystick-notes.tmp'), 'the user’s');
  }
  removeTempFiles(root, [
    writeOf('a/file.txt'),
    writeOf('a/other.txt'),
    writeOf('b/file.txt'),
    writeOf('gone/x'),
  ]);
  expect(readdirSync(join(root, 'a'))).toEqual(['.tallystick-notes.tmp']);
  expect(readdirSync(join(root, 'b'))).toEqual(['.tallystick-notes.tmp']);
  expect(readdirSync(join(root, 'elsewhere'))).toContain(temp);
});

test('follows no link out of the project', async () => {
  await using folder = await tempFolder();
  const [root, outside] = [join(folder.path, 'project'), join(folder.path, 'outside')];
  for (const path of [root, outside]) mkdirSync(path);
  writeFileSync(join(outside, temp), 'not ours');
  symlinkSync(outside, join(root, 'link'));
  removeTempFiles(root, [writeOf('link/file.txt')]);
  expect(readdirSync(outside)).toEqual([temp]);
});
