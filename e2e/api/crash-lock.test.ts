import { cp, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { acquireDataFolderLock } from '../../daemon/lib/data-folder-lock.ts';
import { LineProcess } from '../../daemon/lib/testing/line-process.ts';
import { tempFolder } from '../../daemon/lib/testing/temp-folder.ts';
import type { CrashPoint } from './crash/crash-points.ts';
import { crashPoints, DISK_CALLS, summary } from './crash/crash-points.ts';
import type { Injection } from './crash/strace.ts';
import { attachStrace, straceMissing, wasStruck } from './crash/strace.ts';

const contender = join(import.meta.dirname, '../../daemon/lib/testing/lock-contender.ts');

test('a contender killed at any step of taking over a dead lock leaves it to the next', {
  timeout: 300_000,
}, async ({ skip }) => {
  const missing = straceMissing();
  if (missing) {
    console.info(`skipped: ${missing}`);
    return skip(missing);
  }
  await using dead = await tempFolder();
  await using holder = LineProcess.start(contender, [dead.path]);
  holder.send('1');
  expect(await holder.line((line) => line.startsWith('1 '))).toBe('1 won');
  holder.kill();
  await holder.ended;

  const calm = await takeOver(dead.path);
  expect(calm.lines).toEqual(['ready', '1 won']);
  const tried: { point: CrashPoint; struck: boolean }[] = [];
  for (const point of crashPoints(calm.log)) {
    const { log } = await takeOver(dead.path, { ...point, effect: 'signal=KILL' });
    const struck = wasStruck(log, point.syscall);
    if (point.syscall !== 'write') expect(struck, `${point.syscall} ${point.nth}`).toBe(true);
    tried.push({ point, struck });
  }
  console.info(`killed a takeover: ${summary(tried)}`);
});

/** Lets a process take over a copy of the dead lock under an injection; then it is killed, and we take it over. */
async function takeOver(dead: string, injection?: Injection) {
  await using folder = await tempFolder();
  await using scratch = await tempFolder();
  await cp(dead, folder.path, { recursive: true });
  await using subject = LineProcess.start(contender, [folder.path]);
  await subject.line((line) => line === 'ready');
  const strace = await attachStrace({
    pid: subject.pid,
    logPath: join(scratch.path, 'strace.log'),
    threads: 'all',
    syscalls: DISK_CALLS,
    ...(injection ? { injection } : {}),
  });
  subject.send('1');
  await subject.line((line) => line.startsWith('1 '));
  subject.kill();
  await subject.ended;

  await using _ = await acquireDataFolderLock(folder.path);
  expect(await readdir(folder.path)).toEqual(['daemon.lock']);
  return { log: await strace.log, lines: subject.lines };
}
