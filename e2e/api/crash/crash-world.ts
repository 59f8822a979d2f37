import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { ChainHead, Receipt } from '../../../daemon/contract/receipts.ts';
import { tempFolder } from '../../../daemon/lib/testing/temp-folder.ts';
import { expectIntact, type KnownWorkspace } from './expect-intact.ts';
import { type Demand, type MutationKind, mutationKinds } from './mutation-kinds.ts';
import { hashOf } from './receipt-replay.ts';
import { attachStrace, type Injection } from './strace.ts';
import { callsOf, type ThreadCall, threadsOf } from './thread-calls.ts';
import { type Outcome, WorkspaceDaemon } from './workspace-daemon.ts';

/** A workspace that many daemons live through, one after the other, each starting from what the last one left. */
interface CrashWorld extends KnownWorkspace {
  readonly dataDir: string;
  lives: number;
  /** Receipts that there were before the last attempt. */
  count: number;
  /** What the last daemon was asked when it was struck. */
  asked: { readonly kind: MutationKind; readonly demand: Demand } | undefined;
}

interface Strike {
  readonly point: ThreadCall;
  readonly effect: Injection['effect'];
}

interface Life {
  readonly log: string;
  readonly calls: readonly ThreadCall[];
  readonly outcome: Outcome;
}

interface LifeOptions {
  readonly syscalls: readonly string[];
  readonly strike?: Strike;
  /** Called when the mutation was answered, or the connection broke; the strike may still be to come. */
  readonly afterwards?: (daemon: WorkspaceDaemon, outcome: Outcome, logPath: string) => Promise<void>;
}

export function newCrashWorld(base: string): CrashWorld {
  const project = join(base, 'project');
  mkdirSync(project, { recursive: true });
  writeFileSync(join(project, 'seed.txt'), 'was there before\n');
  return {
    project,
    dataDir: join(base, 'data'),
    start: new Map([['seed.txt', hashOf('was there before\n')]]),
    acknowledged: new Set(),
    lives: 0,
    count: 0,
    asked: undefined,
  };
}

/** Starts a daemon, checks what the last one left, makes one mutation under the strike, and asks the daemon to end. */
export async function live(world: CrashWorld, kind: MutationKind, options: LifeOptions): Promise<Life> {
  const { syscalls, strike, afterwards } = options;
  await using scratch = await tempFolder();
  await using daemon = await WorkspaceDaemon.start(world);
  await expectWhole(daemon, world);
  world.lives += 1;
  const attempt = await mutationKinds[kind]({ daemon, project: world.project, mark: `${world.lives}` });
  // A command that changes nothing: after it every thread is there, and has nothing to do.
  expect(await daemon.shell('true')).toMatchObject({ kind: 'done', receiptId: null });
  world.count = (await daemon.panel.json<ChainHead>('GET', '/api/receipts/chain-head')).count;
  world.asked = { kind, demand: attempt.demand };
  const threads = threadsOf(daemon.process.pid);
  const thread = strike === undefined ? undefined : threads.get(strike.point.role);
  if (threads.size !== 3) throw new Error(`not all threads are known: ${[...threads.keys()]}`);
  const logPath = join(scratch.path, 'strace.log');
  const strace = await attachStrace({
    ...(strike === undefined ? {} : { injection: injectionOf(strike) }),
    pid: thread ?? daemon.process.pid,
    threads: thread === undefined ? 'all' : 'main',
    paths: true,
    logPath,
    syscalls,
  });
  const outcome = await attempt.send();
  await afterwards?.(daemon, outcome, logPath);
  // What is written behind the answer is written now, and not at some time.
  await daemon.end();
  const log = await strace.log;
  return { log, calls: callsOf(log, threads), outcome };
}

/** An error must not meet the writes by which threads wake each other: those are told from writes to a file by its path. */
function injectionOf({ point, effect }: Strike): Injection {
  const { syscall, nth, nthOfTarget, target } = point;
  if (syscall !== 'write' || effect === 'signal=KILL') return { syscall, nth, effect };
  return { syscall, nth: nthOfTarget, effect, path: target };
}

/** Starts a last daemon and checks what the one before left. Answers the chain. */
export async function lookAt(world: CrashWorld): Promise<Receipt[]> {
  await using daemon = await WorkspaceDaemon.start(world);
  return await expectWhole(daemon, world);
}

/** Beyond what `expectIntact` checks: what was under way is there as a whole or not at all. */
export async function expectWhole(daemon: WorkspaceDaemon, world: CrashWorld): Promise<Receipt[]> {
  const chain = await expectIntact(daemon, world);
  const added = chain
    .slice(world.count)
    .filter(({ files }) => !files.some(({ path }) => path === 'after.txt'));
  if (world.asked === undefined) return chain;
  const { kind, demand } = world.asked;
  expect(added.length).toBeLessThanOrEqual(1);
  for (const { files, command } of added) {
    const made = files
      .filter(({ path }) => !path.endsWith('/'))
      .map(({ path, after_hash }) => [path, after_hash] as const);
    // A command that was ended, or died with its daemon, may have got anywhere; the receipt tells how far.
    if (kind === 'shell' && command?.exit_code !== 0) continue;
    expect(made.sort()).toEqual([...demand].sort());
  }
  return chain;
}
