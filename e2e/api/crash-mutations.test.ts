import { describe, expect, test } from 'vitest';
import { tempFolder } from '../../daemon/lib/testing/temp-folder.ts';
import { deep } from './crash/crash-points.ts';
import { live, lookAt, newCrashWorld } from './crash/crash-world.ts';
import { kindNames } from './crash/mutation-kinds.ts';
import { straceMissing, wasStruck } from './crash/strace.ts';
import { countBy, spread, type ThreadCall } from './crash/thread-calls.ts';
import type { Outcome } from './crash/workspace-daemon.ts';

const missing = straceMissing();
if (missing) console.info(`skipped: ${missing}`);

/** A kill there comes between two states of the disk, or between the disk and the answer. */
const KILL_AT = [
  ...['openat', 'write', 'writev', 'pwrite64', 'ftruncate', 'fchmod', 'fsync', 'fdatasync'],
  ...['rename', 'link', 'unlink', 'symlink', 'mkdir', 'rmdir'],
];
/** Points of each kind of mutation in a sample. */
const SAMPLE = 3;

describe('a daemon killed at any step of a mutation, or of what is written behind it', () => {
  test.for(kindNames)(
    'keeps what it acknowledged; the rest is whole or absent, file and receipt alike: %s',
    { timeout: 3_600_000 },
    async (kind, { skip }) => {
      if (missing) return skip(missing);
      await using folder = await tempFolder();
      const world = newCrashWorld(folder.path);
      // The very first mutation makes folders and files that stay.
      await live(world, kind, { syscalls: KILL_AT });
      const calm = await live(world, kind, { syscalls: KILL_AT });
      expect(calm.outcome.kind).toBe('done');
      const all = calm.calls.filter(isCrashPoint);
      const tried: { point: ThreadCall; struck: boolean; answer: Outcome['kind'] }[] = [];
      for (const point of deep ? all : spread(all, SAMPLE)) {
        const strike = { point, effect: 'signal=KILL' } as const;
        const { log, outcome } = await live(world, kind, { syscalls: KILL_AT, strike });
        tried.push({ point, struck: wasStruck(log, point.syscall), answer: outcome.kind });
      }
      const chain = await lookAt(world);
      const struck = tried.filter((one) => one.struck);
      console.info(
        `killed ${kind} at ${struck.length} of ${tried.length} points tried, of ${all.length} known ` +
          `(${countBy(struck, ({ point }) => `${point.role} ${point.syscall}`)}); ` +
          `answers: ${countBy(tried, ({ answer }) => answer)}; ${chain.length} receipts`,
      );
      expect(struck.length).toBeGreaterThanOrEqual(tried.length * (deep ? 0.8 : 0.5));
    },
  );
});

/** Node's threads wake each other by writing to an event, which is no step of ours. */
function isCrashPoint({ syscall, target }: ThreadCall): boolean {
  return !(syscall === 'write' && target.includes('eventfd'));
}
