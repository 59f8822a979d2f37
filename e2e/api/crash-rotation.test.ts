import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { tempFolder } from '../../daemon/lib/testing/temp-folder.ts';
import { type CrashPoint, crashPoints, DISK_CALLS, deep, summary } from './crash/crash-points.ts';
import { RotationDaemon } from './crash/rotation-daemon.ts';
import { type AttachOptions, attachStrace, straceMissing, wasStruck } from './crash/strace.ts';
import { buildOnce } from './served-daemon.ts';

const sampleSize = 8;
const deepSize = 100;

test.for(['all', 'main'] as const)(
  'a daemon killed at any step of a rotation loses no secret, and a rerun completes (counting the calls of: %s)',
  { timeout: 1_200_000 },
  async (threads, { skip }) => {
    const missing = straceMissing();
    if (missing !== undefined) {
      console.info(`skipped: ${missing}`);
      return skip(missing);
    }
    await buildOnce();
    await using folder = await tempFolder();
    const world = await RotationWorld.make(folder.path);
    const points = evenly(crashPoints(await world.rotateUnder({ threads })), deep ? deepSize : sampleSize);
    const tried: { point: CrashPoint; struck: boolean }[] = [];
    for (const [index, point] of points.entries()) {
      const injection = { ...point, effect: 'signal=KILL' as const };
      // In every second one, a workspace is away while it happens.
      const log = await world.rotateUnder({ threads, injection }, index % 2 === 1);
      tried.push({ point, struck: wasStruck(log, point.syscall) });
      await world.expectWhole(`${point.syscall} ${point.nth}`);
    }
    console.info(`killed a rotation (${threads}): ${summary(tried)}; ${world.outcomes()}`);
    expect(tried.filter(({ struck }) => struck).length).toBeGreaterThan(tried.length / 2);
  },
);

test('a daemon killed at each step that exchanges the keys loses no secret, and a rerun completes', {
  timeout: 600_000,
}, async ({ skip }) => {
  const missing = straceMissing();
  if (missing !== undefined) {
    console.info(`skipped: ${missing}`);
    return skip(missing);
  }
  await buildOnce();
  await using folder = await tempFolder();
  const world = await RotationWorld.make(folder.path);
  const tried: string[] = [];
  for (const isOneAway of [false, true]) {
    const calm = await world.rotateUnder({ threads: 'all', paths: true }, isOneAway);
    await world.expectWhole('calm');
    for (const { syscall, path } of world.keyCalls) {
      const count = calm.split('\n').filter((line) => isCallOn(line, syscall, path)).length;
      expect(count, `${syscall} ${path}`).toBeGreaterThan(0);
      for (let nth = 1; nth <= count; nth += 1) {
        const injection = { syscall, nth, path, effect: 'signal=KILL' as const };
        const log = await world.rotateUnder({ threads: 'all', injection }, isOneAway);
        const at = `${syscall} ${nth} of ${basename(path)}`;
        expect(wasStruck(log, syscall), at).toBe(true);
        await world.expectWhole(at);
        tried.push(at);
      }
    }
  }
  console.info(`killed a rotation at: ${tried.join(', ')}; ${world.outcomes()}`);
});

/** Whether a line of strace's log shows a call begun on a file, named or by a descriptor. */
function isCallOn(line: string, syscall: string, path: string): boolean {
  return line.includes(` ${syscall}(`) && (line.includes(`"${path}"`) || line.includes(`<${path}>`));
}

/** One data folder with three workspaces, which lives through all crashes. */
class RotationWorld {
  readonly #folder: string;
  readonly #secrets: { readonly wsId: string; readonly name: string; readonly value: string }[] = [];
  readonly #seen = { cutShort: 0, complete: 0 };

  static async make(folder: string): Promise<RotationWorld> {
    const world = new RotationWorld(folder);
    mkdirSync(world.#keys);
    writeFileSync(world.#keyFile, randomBytes(32).toString('base64url'), { mode: 0o600 });
    await using daemon = await world.#start();
    for (const project of projects) {
      mkdirSync(world.#path(project));
      const wsId = await daemon.load(world.#path(project));
      for (const name of ['FIRST', 'SECOND']) {
        const value = randomBytes(24).toString('hex');
        await daemon.set(wsId, name, value);
        world.#secrets.push({ wsId, name, value });
      }
    }
    return world;
  }

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Rotates with strace attached, and kills the daemon where that has not happened by then; answers what strace saw. */
  async rotateUnder(
    strike: Pick<AttachOptions, 'threads' | 'injection' | 'paths'>,
    isOneAway = false,
  ): Promise<string> {
    await using scratch = await tempFolder();
    const [away, aside] = [this.#path('two'), this.#path('away')];
    if (isOneAway) renameSync(away, aside);
    try {
      await using daemon = await this.#start();
      const strace = await attachStrace({
        ...strike,
        pid: daemon.process.pid,
        logPath: join(scratch.path, 'strace.log'),
        syscalls: DISK_CALLS,
      });
      // Where it is killed, the connection breaks: what it came to shows afterwards.
      await daemon.rotate().catch(() => undefined);
      daemon.process.kill();
      return await strace.log;
    } finally {
      if (isOneAway) renameSync(aside, away);
    }
  }

  /** The calls that put keys in place, read them back and remove them; a folder is synced where a name has changed. */
  get keyCalls() {
    return [
      { syscall: 'openat', path: this.#keyFile },
      { syscall: 'openat', path: `${this.#keyFile}.next` },
      { syscall: 'fsync', path: this.#keys },
      { syscall: 'unlink', path: `${this.#keyFile}.next` },
    ];
  }

  async expectWhole(at: string): Promise<void> {
    {
      await using daemon = await this.#start();
      await this.#expectSecrets(daemon, at);
    }
    await using daemon = await this.#start();
    const { rotation } = await daemon.status();
    this.#seen[rotation === null ? 'complete' : 'cutShort'] += 1;
    const { pending, key_id } = await daemon.rotate();
    expect(pending, at).toEqual([]);
    await this.#expectSecrets(daemon, at);
    expect(await daemon.status(), at).toMatchObject({ state: 'ready', key_id, rotation: null, retired: [] });
    // No key is left lying about; of a file that a crash left empty nobody can tell whose it is.
    const held = readdirSync(this.#keys).filter((name) => statSync(join(this.#keys, name)).size > 0);
    expect(held, at).toEqual(['secret_key']);
  }

  outcomes(): string {
    return `${this.#seen.cutShort} were cut short, ${this.#seen.complete} had not begun or were complete`;
  }

  async #expectSecrets(daemon: RotationDaemon, at: string): Promise<void> {
    for (const { wsId, name, value } of this.#secrets)
      expect(await daemon.reveal(wsId, name), at).toBe(value);
  }

  #start(): Promise<RotationDaemon> {
    return RotationDaemon.start(join(this.#folder, 'data'), this.#keyFile);
  }

  #path(project: string): string {
    return join(this.#folder, project);
  }

  get #keys(): string {
    return join(this.#folder, 'keys');
  }

  get #keyFile(): string {
    return join(this.#keys, 'secret_key');
  }
}

const projects = ['one', 'two', 'three'];

/** So many of them at the most, spread over all. */
function evenly<T>(all: readonly T[], most: number): T[] {
  if (all.length <= most) return [...all];
  return Array.from({ length: most }, (_, index) => all[Math.floor((index * all.length) / most)]).filter(
    (one): one is T => one !== undefined,
  );
}
