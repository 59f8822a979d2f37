import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { removeStaleTempFiles } from '../../daemon/lib/durable-file.ts';
import { LineProcess } from '../../daemon/lib/testing/line-process.ts';
import { tempFolder } from '../../daemon/lib/testing/temp-folder.ts';
import type { CrashPoint } from './crash/crash-points.ts';
import { crashPoints, DISK_CALLS, deep, summary } from './crash/crash-points.ts';
import { openNames } from './crash/names-state.ts';
import type { AttachOptions } from './crash/strace.ts';
import { attachStrace, straceMissing, wasStruck } from './crash/strace.ts';

const script = join(import.meta.dirname, 'crash/update-state.ts');
const missing = straceMissing();
if (missing) console.info(`skipped: ${missing}`);

/** A sample strikes in one update, the full run in two, one after another. */
const UNDER_FIRE = deep ? ['second', 'third'] : ['second'];

describe('a process killed at any step of a durable update', () => {
  test.for(['all', 'main'] as const)(
    'keeps what it acknowledged and nothing by halves (counting the calls of: %s)',
    { timeout: 600_000 },
    async (threads, { skip }) => {
      if (missing) skip(missing);
      const calm = await strike({ threads });
      expect(calm.lines).toEqual([
        'ready',
        'acknowledged first',
        ...UNDER_FIRE.map((name) => `acknowledged ${name}`),
      ]);
      const tried: { point: CrashPoint; struck: boolean }[] = [];
      for (const point of crashPoints(calm.log)) {
        const { log } = await strike({ threads, injection: { ...point, effect: 'signal=KILL' } });
        const struck = wasStruck(log, point.syscall);
        // How often threads wake each other with `write` varies a little from run to run.
        if (point.syscall !== 'write') expect(struck, `${point.syscall} ${point.nth}`).toBe(true);
        tried.push({ point, struck });
      }
      console.info(`killed an update (${threads}): ${summary(tried)}`);
      const writes = tried.filter(({ point }) => point.syscall === 'write');
      expect(writes.filter(({ struck }) => struck).length).toBeGreaterThanOrEqual(writes.length * 0.5);
    },
  );
});

describe('a process whose system calls fail', () => {
  test.for(deep ? ['ENOSPC', 'EIO', 'EDQUOT'] : ['ENOSPC', 'EIO'])(
    'refuses the update that met %s, and keeps what it acknowledged',
    { timeout: 600_000 },
    async (error, { skip }) => {
      if (missing) skip(missing);
      const calm = await strike({ threads: 'all' });
      // A failed wake-up between threads is no disk fault: the event loop aborts the process.
      const points = crashPoints(calm.log).filter(({ syscall }) => !['write', 'close'].includes(syscall));
      const tried: { point: CrashPoint; struck: boolean }[] = [];
      for (const point of points) {
        const { lines, log } = await strike({
          threads: 'all',
          injection: { ...point, effect: `error=${error}` },
        });
        const struck = log.includes('(INJECTED)');
        expect(struck, `${point.syscall} ${point.nth}`).toBe(true);
        tried.push({ point, struck });
        expectRefusals(lines, error, point);
      }
      console.info(`failed an update with ${error}: ${summary(tried)}`);
    },
  );

  function expectRefusals(lines: readonly string[], error: string, point: CrashPoint) {
    const refused = lines.filter((line) => line.startsWith('refused'));
    const ofFolder = point.syscall === 'fsync' && point.nth % 2 === 0;
    const fatal = ofFolder || error === 'EIO';
    const code = fatal ? 'storage_failed' : 'storage_full';
    expect(refused[0]).toMatch(new RegExp(`^refused \\w+ ${code} ${fatal ? 'fatal' : 'unharmed'}$`));
    if (!fatal) expect(refused).toHaveLength(1);
    else expect(lines.at(-1)).toBe(`refused ${UNDER_FIRE.at(-1)} storage_failed fatal`);
  }
});

/** Makes one update in peace and then some under an injection, and checks what is on disk afterwards. */
async function strike(how: Pick<AttachOptions, 'threads' | 'injection'>) {
  await using folder = await tempFolder();
  await using scratch = await tempFolder();
  await using subject = LineProcess.start(script, [folder.path]);
  subject.send('first');
  await subject.line((line) => line === 'acknowledged first');

  const strace = await attachStrace({
    ...how,
    pid: subject.pid,
    logPath: join(scratch.path, 'strace.log'),
    syscalls: DISK_CALLS,
  });
  for (const name of UNDER_FIRE) {
    subject.send(name);
    if (!(await subject.line((line) => line.split(' ')[1] === name))) break;
  }
  subject.kill();
  await subject.ended;
  await expectWhole(folder.path, subject.lines);
  return { lines: subject.lines, log: await strace.log };
}

async function expectWhole(folder: string, lines: readonly string[]): Promise<void> {
  await removeStaleTempFiles(folder);
  expect(await readdir(folder)).toEqual(['state.json']);
  await using store = await openNames(folder);
  const acknowledged = lines.flatMap((line) => /^acknowledged (\w+)$/.exec(line)?.[1] ?? []);
  const { names } = store.value;
  expect(names.filter((name) => acknowledged.includes(name))).toEqual(acknowledged);
  // Beyond that there may be what was under way, whole and in its place.
  expect(['first', ...UNDER_FIRE].filter((name) => names.includes(name))).toEqual(names);
}
