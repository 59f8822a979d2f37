import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import pino from 'pino';
import type { Clock } from './clock.ts';

export const keptLogDays = 30;
const dayMs = 24 * 3600 * 1000;
const lookEveryMs = 60_000;
const logName = /^\d{4}-\d{2}-\d{2}\.log$/;

/** A file a day (UTC), `<folder>/<date>.log`; those older than 30 days are removed when the day turns and at the start. */
export function openLogFolder(folder: string, clock: Clock): pino.DestinationStream {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  let date = dateOf(clock());
  removeOldLogs(folder, clock());
  const file = pino.destination({ dest: join(folder, `${date}.log`), sync: false, mode: 0o600 });
  // A full disk must not end the daemon for its log's sake; the lines are on standard error, too.
  file.on('error', () => undefined);
  setInterval(() => {
    if (dateOf(clock()) === date) return;
    date = dateOf(clock());
    file.reopen(join(folder, `${date}.log`));
    removeOldLogs(folder, clock());
  }, lookEveryMs).unref();
  return file;
}

/** Removes the logs of days that are more than 30 days before `nowMs`, and nothing else that stands in the folder. */
export function removeOldLogs(folder: string, nowMs: number): void {
  const oldest = `${dateOf(nowMs - keptLogDays * dayMs)}.log`;
  for (const name of readdirSync(folder))
    if (logName.test(name) && name < oldest) rmSync(join(folder, name), { force: true });
}

function dateOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
