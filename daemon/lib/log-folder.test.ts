import { mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { until } from '../testing/processes.ts';
import { openLogFolder, removeOldLogs } from './log-folder.ts';

const now = Date.parse('2026-03-31T12:00:00.000Z');

test('logs are kept for thirty days, and only logs are removed', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tallystick-logs-'));
  const kept = ['2026-03-01.log', '2026-03-31.log', 'notes.log', '2025-01-01.txt'];
  for (const name of [...kept, '2026-02-28.log', '2025-12-31.log']) writeFileSync(join(folder, name), '');
  removeOldLogs(folder, now);
  expect(readdirSync(folder).toSorted()).toEqual(kept.toSorted());
});

test('the log of a day is named by its date in UTC', async () => {
  const folder = join(mkdtempSync(join(tmpdir(), 'tallystick-logs-')), 'logs');
  openLogFolder(folder, () => Date.parse('2026-03-31T23:59:59.999Z'));
  // It is opened off the event loop.
  await until('the log is there', () => readdirSync(folder).length > 0);
  expect(readdirSync(folder)).toEqual(['2026-03-31.log']);
});
