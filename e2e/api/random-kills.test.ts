import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { tempFolder } from '../../daemon/lib/testing/temp-folder.ts';
import { deep } from './crash/crash-points.ts';
import { expectIntact, type KnownWorkspace } from './crash/expect-intact.ts';
import { hashOf } from './crash/receipt-replay.ts';
import { killWhileStarting, type Outcome, WorkspaceDaemon } from './crash/workspace-daemon.ts';

const KILLS = deep ? 300 : 10;
const WRITERS = 8;
/** A kill comes at some time after the load has begun; most mutations take a few milliseconds. */
const LONGEST_LIFE_MS = 400;
const LONGEST_START_MS = 60;

test('a daemon killed at any time under load loses nothing it acknowledged, and its chain never forks', {
  timeout: 3_600_000,
}, async () => {
  await using folder = await tempFolder();
  const world = newWorld(folder.path);
  const outcomes = new Map<string, number>();
  let length = 0;
  for (let life = 1; life <= KILLS; life += 1) {
    await using daemon = await WorkspaceDaemon.start(world);
    length = (await expectIntact(daemon, world)).length;
    const load = [
      ...Array.from({ length: WRITERS }, (_, writer) =>
        untilDeath(daemon, (turn) => writeSomething(daemon, { writer, mark: `${life}.${turn}` })),
      ),
      untilDeath(daemon, (turn) => daemon.shell(commandOf(`${life}.${turn}`))),
    ];
    await delay(Math.random() * LONGEST_LIFE_MS);
    daemon.process.kill();
    await daemon.process.ended;
    // Recovery is struck as well: what it leaves is recovered once more.
    if (life % 2 === 0) await killWhileStarting(world.dataDir, Math.random() * LONGEST_START_MS);
    for (const outcome of (await Promise.all(load)).flat())
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  }
  await using daemon = await WorkspaceDaemon.start(world);
  length = (await expectIntact(daemon, world)).length;
  console.info(
    `killed ${KILLS} times (every other time again while it recovered) under ${WRITERS} writers and a shell: ` +
      `${[...outcomes].map(([kind, count]) => `${count} ${kind}`).join(', ')}; ` +
      `${world.acknowledged.size} receipts acknowledged, ${length} in the chain`,
  );
  expect(outcomes.get('lost') ?? 0).toBeGreaterThan(KILLS / 2);
  expect([...outcomes.keys()].filter((kind) => !['done', 'lost'].includes(kind))).toEqual([]);
});

function newWorld(base: string): KnownWorkspace & { readonly dataDir: string } {
  const project = join(base, 'project');
  mkdirSync(project);
  writeFileSync(join(project, 'seed.txt'), 'seed\n');
  const start = new Map([['seed.txt', hashOf('seed\n')]]);
  return { project, dataDir: join(base, 'data'), start, acknowledged: new Set() };
}

/** Repeats it until the daemon is gone; answers what became of each. */
async function untilDeath(
  daemon: WorkspaceDaemon,
  act: (turn: number) => Promise<Outcome>,
): Promise<string[]> {
  const outcomes: string[] = [];
  let alive = true;
  void daemon.process.ended.then(() => {
    alive = false;
  });
  for (let turn = 0; alive; turn += 1) {
    const outcome = await act(turn);
    outcomes.push(outcome.kind === 'refused' ? `refused ${outcome.code}` : outcome.kind);
    // A connection that breaks is the first sign of the end.
    if (outcome.kind === 'lost') await Promise.race([daemon.process.ended, delay(50)]);
  }
  return outcomes;
}

/** Writers have a file each, one that all of them write, and one that each makes, moves and deletes. */
async function writeSomething(
  daemon: WorkspaceDaemon,
  { writer, mark }: { readonly writer: number; readonly mark: string },
): Promise<Outcome> {
  const content = `writer ${writer} ${mark}\n`;
  const own = `w${writer}/${mark}.txt`;
  switch (Math.floor(Math.random() * 4)) {
    case 0:
      return daemon.write(`own-${writer}.txt`, content);
    case 1:
      return daemon.write('shared.txt', content);
    default: {
      const made = await daemon.write(own, content);
      if (made.kind !== 'done') return made;
      const moved = await daemon.move(own, `moved-${writer}.${mark}.txt`);
      if (moved.kind !== 'done') return moved;
      return daemon.delete(`moved-${writer}.${mark}.txt`);
    }
  }
}

function commandOf(mark: string): string {
  return `mkdir -p out && echo ${mark} > out/one.txt && echo ${mark} >> out/two.txt && mv out/one.txt out/three.txt`;
}
