import { expect, test } from 'vitest';
import { syncFilesystems, tellsOfFailures } from './sync-filesystem.ts';
import { tempFolder } from './testing/temp-folder.ts';

test('syncs the file systems of folders that are there, one after the other or the same', async () => {
  await using folder = await tempFolder();
  const done = process.platform === 'linux';
  expect(await syncFilesystems([folder.path, folder.path, '/dev/shm'])).toEqual([done, done, done]);
});

test('a folder that is gone is an error, never taken for synced', async () => {
  await expect(syncFilesystems(['/nonexistent/folder'])).rejects.toThrow('ENOENT');
});

test.each([
  ['4.19.0-27-amd64', false],
  ['5.7.19', false],
  ['5.8.0', true],
  ['5.10.0-35-cloud-amd64', true],
  ['6.1.0', true],
  ['unknown', false],
])('kernel %s tells of failures: %s', (kernel, tells) => {
  expect(tellsOfFailures(kernel)).toBe(tells);
});
