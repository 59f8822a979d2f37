import { appendFileSync, readdirSync, readFileSync, statfsSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { DaemonStatus } from '../../daemon/contract/daemon.ts';
import { systemErrorCode } from '../../daemon/lib/durable-errors.ts';
import type { Ending } from '../../daemon/lib/testing/line-process.ts';
import { tempFolder } from '../../daemon/lib/testing/temp-folder.ts';
import { until } from '../../daemon/testing/processes.ts';
import { deep } from './crash/crash-points.ts';
import { expectWhole, live, lookAt, newCrashWorld } from './crash/crash-world.ts';
import { expectIntact } from './crash/expect-intact.ts';
import { type Mounted, mountMissing, mountTmpfs } from './crash/mounts.ts';
import { done, kindNames, type MutationKind } from './crash/mutation-kinds.ts';
import { straceMissing } from './crash/strace.ts';
import { countBy, spread, type ThreadCall } from './crash/thread-calls.ts';
import { type Outcome, WorkspaceDaemon } from './crash/workspace-daemon.ts';

/** Where a full or broken disk shows. */
const FAIL_AT = [
  ...['write', 'pwrite64', 'ftruncate', 'fsync', 'fdatasync'],
  ...['rename', 'link', 'symlink', 'mkdir'],
];
const SAMPLED_KINDS: readonly MutationKind[] = ['write', 'shell'];
const SAMPLE = 3;

describe('a daemon whose system calls fail during a mutation, or what is written behind it', () => {
  const missing = straceMissing();
  test.for(deep ? kindNames : SAMPLED_KINDS)(
    'refuses with 507 or 503 and changes nothing, or ends, and loses nothing it acknowledged: %s',
    { timeout: 3_600_000 },
    async (kind, { skip }) => {
      if (missing) return skipAloud(missing, skip);
      await using folder = await tempFolder();
      const world = newCrashWorld(folder.path);
      await live(world, kind, { syscalls: FAIL_AT });
      const calm = await live(world, kind, {
        syscalls: FAIL_AT,
        afterwards: async (daemon) => {
          await untilFlushed(daemon);
          daemon.process.kill();
        },
      });
      const all = calm.calls.filter(isOfDisk);
      const points = deep ? all : spread(all, SAMPLE);
      const tried: string[] = [];
      for (const [at, point] of points.entries()) {
        for (const error of deep ? ['ENOSPC', 'EIO'] : [at % 2 === 0 ? 'ENOSPC' : 'EIO']) {
          let verdict = 'not met';
          const afterwards = async (daemon: WorkspaceDaemon, outcome: Outcome, logPath: string) => {
            const said = await judge(daemon, outcome, async () => {
              const chain = await expectWhole(daemon, world);
              if (outcome.kind === 'refused') expect(chain).toHaveLength(world.count + 1);
            });
            if (readFileSync(logPath, 'utf8').includes('(INJECTED)')) verdict = `${error} → ${said}`;
          };
          const strike = { point, effect: `error=${error}` } as const;
          await live(world, kind, { syscalls: FAIL_AT, strike, afterwards }).catch((cause: unknown) => {
            const { role, syscall, nth, target } = point;
            throw new Error(`at ${role} ${syscall} ${nth} ${target}, ${error}: ${cause}`, { cause });
          });
          // What was to be durable may not be: the daemon does not go on as if it were. A pack is written anew.
          if (
            verdict.startsWith('EIO') &&
            point.syscall.endsWith('sync') &&
            !point.target.includes('/objects/pack')
          )
            expect(verdict, `${point.role} ${point.syscall} ${point.nth} ${point.target}`).toContain('ended');
          tried.push(verdict);
        }
      }
      const chain = await lookAt(world);
      console.info(
        `failed ${kind} at ${points.length} points of ${all.length} known ` +
          `(${countBy(points, ({ role, syscall }) => `${role} ${syscall}`)}): ` +
          `${countBy(tried, (one) => one)}; ${chain.length} receipts`,
      );
      expect(tried.filter((one) => one === 'not met').length).toBeLessThanOrEqual(tried.length / 2);
    },
  );
});

describe('a full disk', () => {
  test.for(['data', 'project'] as const)(
    'refuses changes with 507, keeps all that was acknowledged, and takes changes again once there is room: %s folder',
    { timeout: 120_000 },
    async (which, { skip }) => {
      await using folder = await tempFolder();
      const missing = mountMissing('tmpfs', folder.path);
      if (missing) return skipAloud(missing, skip);
      const path = join(folder.path, which);
      using disk = mountTmpfs(path, 4096);
      const world = { ...newCrashWorld(folder.path), isOutside: (name: string) => name === 'filler' };
      const long = (mark: string) => `${mark} `.repeat(4000);
      const outcomes: Outcome[] = [];
      {
        await using daemon = await WorkspaceDaemon.start(world);
        await done(daemon.write('a.txt', long('first')));
        await done(daemon.write('b.txt', long('other')));
        const filler = fill(disk);
        for (let turn = 0; turn < 20; turn += 1) {
          outcomes.push(await daemon.write('a.txt', long(`full ${turn}`)));
          outcomes.push(await daemon.write(`new/${turn}.txt`, long(`new ${turn}`)));
          outcomes.push(await daemon.edit('b.txt', long('other'), long('edited')));
        }
        const refusals = outcomes.filter(({ kind }) => kind === 'refused');
        expect(refusals.length).toBeGreaterThan(outcomes.length / 2);
        for (const refusal of refusals) expect(refusal).toMatchObject({ status: 507, code: 'storage_full' });
        expect(outcomes.filter(({ kind }) => kind === 'lost')).toEqual([]);
        await expectIntact(daemon, world);
        unlinkSync(filler);
        await done(daemon.write('a.txt', long('after')));
        await done(daemon.shell('echo there is room > room.txt'));
        await expectIntact(daemon, world);
        expect((await daemon.end()).code).toBe(0);
      }
      const chain = await lookAt(world);
      console.info(`full ${which} disk: ${countBy(outcomes, ({ kind }) => kind)}; ${chain.length} receipts`);
    },
  );
});

/** Takes what room there is, whatever else is written meanwhile. */
function fill({ path }: Mounted): string {
  const filler = join(path, 'filler');
  const { bavail, bsize } = statfsSync(path);
  for (let at = 0; at <= bavail; at += 1) {
    try {
      appendFileSync(filler, Buffer.alloc(bsize));
    } catch (error) {
      if (systemErrorCode(error) === 'ENOSPC') break;
      throw error;
    }
  }
  return filler;
}

/** What a daemon makes of a failed call: it goes on, and then all is as it should be; or it ends with status 1. */
async function judge(
  daemon: WorkspaceDaemon,
  outcome: Outcome,
  expectGood: () => Promise<void>,
): Promise<string> {
  const answer = outcome.kind === 'refused' ? `${outcome.status} ${outcome.code}` : outcome.kind;
  if (outcome.kind === 'refused') {
    expect(answer, daemon.process.errors).toMatch(/^(507 storage_full|503 storage_failed)$/);
  }
  if (outcome.kind === 'done' && outcome.receiptId !== null) await untilFlushed(daemon);
  const after = await daemon.write('after.txt', `after ${answer} ${performance.now()}`);
  if (after.kind === 'done') {
    await expectGood();
    return answer;
  }
  expect(await daemon.process.ended, `${answer}: ${daemon.process.errors}`).toMatchObject({ code: 1 });
  return `${answer} and ended`;
}

/** Resolves when what was answered by now is written behind, or can't be, or the daemon is gone. */
async function untilFlushed(daemon: WorkspaceDaemon): Promise<void> {
  const intents = join(daemon.workspaceFolder, 'intents');
  const before = new Set(readdirSync(intents));
  let ending: Ending | undefined;
  void daemon.process.ended.then((how) => {
    ending = how;
  });
  const isFlushed = async () => {
    if (ending !== undefined || !readdirSync(intents).some((name) => before.has(name))) return true;
    const { notices } = await daemon.panel.json<DaemonStatus>('GET', '/api/status');
    return notices.some((notice) => notice.startsWith('What the journal holds'));
  };
  await until('what was answered is written behind', () => isFlushed().catch(() => ending !== undefined));
}

/** Of writes those to files that are always called the same: others can't be told from what meets no disk. */
function isOfDisk({ syscall, target }: ThreadCall): boolean {
  return syscall !== 'write' || (target.startsWith('/') && !/tmp_pack_|\.durable-|\/logs\//.test(target));
}

function skipAloud(reason: string, skip: (note: string) => never): never {
  console.info(`skipped: ${reason}`);
  return skip(reason);
}
