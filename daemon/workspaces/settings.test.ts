import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tempFolder } from '../lib/testing/temp-folder.ts';
import { readSettings } from './settings.ts';

async function settingsOf(text: string | null) {
  await using project = await tempFolder();
  const file = join(project.path, '.service', 'settings.json');
  await mkdir(join(project.path, '.service'));
  if (text !== null) await writeFile(file, text);
  const problems: string[] = [];
  const settings = await readSettings(project.path, (problem) => problems.push(problem));
  if (text !== null) expect(await readFile(file, 'utf8')).toBe(text);
  return { settings, problems };
}

test('a project without settings has none, and that is no problem', async () => {
  expect(await settingsOf(null)).toEqual({ settings: {}, problems: [] });
});

test('members of others are let be', async () => {
  const text = '{"theme":"dark","snapshots":{"max_count":5,"max_bytes":1048576}}';
  expect(await settingsOf(text)).toEqual({ settings: JSON.parse(text), problems: [] });
});

test.each([
  ['', 'JSON'],
  ['[]', 'object'],
  ['{"snapshots":{"max_count":0}}', 'max_count'],
  ['{"snapshots":{"max_count":100001}}', 'max_count'],
  ['{"snapshots":{"max_bytes":1048575}}', 'max_bytes'],
  [`{"theme":"${'x'.repeat(1024 * 1024)}"}`, '1 MiB'],
])('a file that is not understood counts as none, is said so, and stays: %.40s', async (text, reason) => {
  const { settings, problems } = await settingsOf(text);
  expect(settings).toEqual({});
  expect(problems).toHaveLength(1);
  expect(problems[0]).toContain(reason);
});
