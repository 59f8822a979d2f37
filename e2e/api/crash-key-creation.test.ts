import { readdirSync, statfsSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tempFolder } from '../../daemon/lib/testing/temp-folder.ts';
import type { CrashPoint } from './crash/crash-points.ts';
import { crashPoints, DISK_CALLS, summary } from './crash/crash-points.ts';
import type { KeyOutcome } from './crash/daemon-process.ts';
import { DaemonProcess } from './crash/daemon-process.ts';
import { mountMissing, mountTmpfs } from './crash/mounts.ts';
import type { AttachOptions } from './crash/strace.ts';
import { attachStrace, straceMissing, wasStruck } from './crash/strace.ts';

test.for(['all', 'main'] as const)(
  'a daemon killed at any step of a key creation keeps every acknowledged key (counting the calls of: %s)',
  { timeout: 1_200_000 },
  async (threads, { skip }) => {
    const missing = straceMissing();
    if (missing) return skipAloud(missing, skip);
    await using folder = await tempFolder();
    const asked: string[] = [];
    const acknowledged = new Map<string, string>();
    const tried: { point: CrashPoint; struck: boolean }[] = [];
    const calm = await inOneLife(folder.path, asked, acknowledged, { threads });

    // One data folder lives through all crashes, each daemon starting from what the one before left.
    for (const point of crashPoints(calm)) {
      const strike = { threads, injection: { ...point, effect: 'signal=KILL' as const } };
      const log = await inOneLife(folder.path, asked, acknowledged, strike);
      const struck = wasStruck(log, point.syscall);
      if (!['write', 'close'].includes(point.syscall))
        expect(struck, `${point.syscall} ${point.nth}`).toBe(true);
      tried.push({ point, struck });
    }
    await inOneLife(folder.path, asked, acknowledged, { threads });
    console.info(
      `killed a key creation (${threads}): ${summary(tried)}; ` +
        `${acknowledged.size} of ${asked.length} keys were acknowledged`,
    );
    expect(tried.filter(({ struck }) => struck).length).toBeGreaterThan(tried.length / 2);
  },
);

test('a system call that fails refuses the key creation it met, and no acknowledged key is lost', {
  timeout: 600_000,
}, async ({ skip }) => {
  const missing = straceMissing();
  if (missing) return skipAloud(missing, skip);
  await using folder = await tempFolder();
  const refusals: string[] = [];
  for (const [syscall, nth, error, status, problem] of [
    ['openat', 1, 'EMFILE', 503, 'storage_failed'],
    ['openat', 2, 'ENOSPC', 507, 'storage_full'],
    ['pwrite64', 1, 'ENOSPC', 507, 'storage_full'],
    ['pwrite64', 1, 'EDQUOT', 507, 'storage_full'],
    ['fsync', 1, 'ENOSPC', 507, 'storage_full'],
    ['rename', 1, 'ENOSPC', 507, 'storage_full'],
    ['pwrite64', 1, 'EIO', 503, 'storage_failed'],
    ['fsync', 1, 'EIO', 503, 'storage_failed'],
    ['fsync', 2, 'EIO', 503, 'storage_failed'],
    ['fsync', 2, 'ENOSPC', 503, 'storage_failed'],
  ] as const) {
    await using scratch = await tempFolder();
    await using daemon = await DaemonProcess.start(folder.path);
    const before = await daemon.keyNames();
    const strace = await attachStrace({
      pid: daemon.process.pid,
      logPath: join(scratch.path, 'strace.log'),
      threads: 'all',
      syscalls: DISK_CALLS,
      injection: { syscall, nth, effect: `error=${error}` },
    });
    const outcome = await daemon.createKey('refused');
    expect(outcome, `${syscall} ${nth} ${error}`).toEqual({ status, problem });
    const fatal = error === 'EIO' || (syscall === 'fsync' && nth === 2);
    if (fatal) expect(await daemon.process.ended).toMatchObject({ code: 1 });
    else {
      expect(await daemon.keyNames()).toEqual(before);
      expect(await daemon.createKey('after')).toHaveProperty('key');
    }
    daemon.process.kill();
    expect(await strace.log).toContain('(INJECTED)');
    refusals.push(`${syscall} ${nth} ${error} → ${status}${fatal ? ' and the end' : ''}`);
  }
  await using daemon = await DaemonProcess.start(folder.path);
  const afters = (await daemon.keyNames()).filter((name) => name === 'after');
  expect(afters).toHaveLength(refusals.filter((refusal) => !refusal.endsWith('the end')).length);
  console.info(`failed a key creation: ${refusals.join(', ')}`);
});

test('a full disk refuses keys with 507, the daemon lives on, and makes them again once there is room', {
  timeout: 120_000,
}, async ({ skip }) => {
  await using scratch = await tempFolder();
  const missing = mountMissing('tmpfs', scratch.path);
  if (missing) return skipAloud(missing, skip);
  using disk = mountTmpfs(join(scratch.path, 'disk'), 512);
  const dataDir = join(disk.path, 'data');
  const acknowledged: string[] = [];
  {
    await using daemon = await DaemonProcess.start(dataDir);
    acknowledged.push(keyOf(await daemon.createKey('first')));
    const filler = join(disk.path, 'filler');
    const { bavail, bsize } = statfsSync(disk.path);
    writeFileSync(filler, Buffer.alloc(bavail * bsize));

    for (let tries = 0; tries < 50; tries += 1)
      expect(await daemon.createKey('second')).toEqual({ status: 507, problem: 'storage_full' });
    expect(await daemon.keyNames()).toEqual(['first']);
    expect(await daemon.accepts(acknowledged[0] ?? '')).toBe(true);

    unlinkSync(filler);
    acknowledged.push(keyOf(await daemon.createKey('third')));
    expect(await daemon.keyNames()).toEqual(['first', 'third']);
  }
  await using daemon = await DaemonProcess.start(dataDir);
  expect(await daemon.keyNames()).toEqual(['first', 'third']);
  for (const key of acknowledged) expect(await daemon.accepts(key)).toBe(true);
});

/** Starts the daemon, checks all that was acknowledged, makes one key in peace and one under the strike. */
async function inOneLife(
  dataDir: string,
  asked: string[],
  acknowledged: Map<string, string>,
  strike: Pick<AttachOptions, 'threads' | 'injection'>,
): Promise<string> {
  await using scratch = await tempFolder();
  const left = readdirSync(dataDir).filter((name) => /durable|claim|\.tmp$/.test(name));
  await using daemon = await DaemonProcess.start(dataDir);
  // A daemon that has just started may have temporary files of its own: those that it found are to be gone.
  const names = readdirSync(dataDir);
  expect(names.filter((name) => left.includes(name) || name.includes('broken'))).toEqual([]);
  await expectWhole(daemon, asked, acknowledged);
  const attempt = async (name: string) => {
    asked.push(name);
    const outcome = await daemon.createKey(name);
    if (outcome !== 'lost') acknowledged.set(name, keyOf(outcome));
  };
  await attempt(`calm-${asked.length}`);
  const strace = await attachStrace({
    ...strike,
    pid: daemon.process.pid,
    logPath: join(scratch.path, 'strace.log'),
    syscalls: DISK_CALLS,
  });
  await attempt(`struck-${asked.length}`);
  daemon.process.kill();
  return await strace.log;
}

async function expectWhole(
  daemon: DaemonProcess,
  asked: readonly string[],
  acknowledged: ReadonlyMap<string, string>,
): Promise<void> {
  const names = await daemon.keyNames();
  expect(asked.filter((name) => names.includes(name))).toEqual(names);
  expect(names).toEqual(expect.arrayContaining([...acknowledged.keys()]));
  for (const [name, key] of acknowledged) expect(await daemon.accepts(key), name).toBe(true);
}

function keyOf(outcome: KeyOutcome): string {
  if (typeof outcome === 'object' && 'key' in outcome) return outcome.key;
  throw new Error(`no key was made: ${JSON.stringify(outcome)}`);
}

function skipAloud(reason: string, skip: (note: string) => never): never {
  console.info(`skipped: ${reason}`);
  return skip(reason);
}
