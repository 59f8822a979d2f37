import { mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tempFolder } from '../lib/testing/temp-folder.ts';
import { ensureServiceFolder } from './service-folder.ts';

test('the service folder is made with a .gitignore that hides all of it, for its owner alone', async () => {
  await using project = await tempFolder();
  const folder = await ensureServiceFolder(project.path);
  expect(folder).toBe(join(project.path, '.service'));
  expect(await readdir(folder)).toEqual(['.gitignore']);
  expect(await readFile(join(folder, '.gitignore'), 'utf8')).toBe('*\n');
  expect((await stat(folder)).mode & 0o777).toBe(0o700);
});

test('what is in it already stays as it is, its own .gitignore too', async () => {
  await using project = await tempFolder();
  const folder = join(project.path, '.service');
  await mkdir(folder);
  await writeFile(join(folder, '.gitignore'), '!vault\n');
  await writeFile(join(folder, 'settings.json'), '{}');
  await Promise.all([ensureServiceFolder(project.path), ensureServiceFolder(project.path)]);
  expect((await readdir(folder)).sort()).toEqual(['.gitignore', 'settings.json']);
  expect(await readFile(join(folder, '.gitignore'), 'utf8')).toBe('!vault\n');
});

test('a link in its place is refused, wherever it leads', async () => {
  await using project = await tempFolder();
  await using elsewhere = await tempFolder();
  await symlink(elsewhere.path, join(project.path, '.service'));
  await expect(ensureServiceFolder(project.path)).rejects.toMatchObject({ code: 'path_outside_workspace' });
  expect(await readdir(elsewhere.path)).toEqual([]);
});

test('a file in its place is refused', async () => {
  await using project = await tempFolder();
  await writeFile(join(project.path, '.service'), '');
  await expect(ensureServiceFolder(project.path)).rejects.toMatchObject({ code: 'conflict' });
});
