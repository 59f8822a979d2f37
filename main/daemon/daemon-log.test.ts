import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { DaemonLog } from './daemon-log.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'daemon-log-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

test('keeps the newest 16 Ki characters, and the file has all, for its owner alone', () => {
  const log = new DaemonLog(join(folder, 'logs', 'daemon.log'));
  log.write('first\n');
  log.write('x'.repeat(16_384));
  expect(log.tail).toBe('x'.repeat(16_384));
  expect(readFileSync(log.path, 'utf8')).toBe(`first\n${'x'.repeat(16_384)}`);
  expect(statSync(log.path).mode & 0o777).toBe(0o600);
});

test('past 5 MiB it starts anew and keeps the older file beside it, across starts of the app', () => {
  const path = join(folder, 'daemon.log');
  writeFileSync(path, 'x'.repeat(5 * 1024 * 1024));
  const log = new DaemonLog(path);
  log.write('at the limit');
  log.write('over it');
  expect(readFileSync(path, 'utf8')).toBe('over it');
  expect(statSync(`${path}.old`).size).toBe(5 * 1024 * 1024 + 12);
});

test('where no file can be written the newest lines are still there', () => {
  writeFileSync(join(folder, 'not-a-folder'), '');
  const log = new DaemonLog(join(folder, 'not-a-folder', 'daemon.log'));
  log.write('seen');
  expect(log.tail).toBe('seen');
});
