import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Receipt } from '../../daemon/contract/receipts.ts';
import { tempFolder } from '../../daemon/lib/testing/temp-folder.ts';
import { readFrames } from '../../daemon/testing/client.ts';
import { deep } from './crash/crash-points.ts';
import { expectIntact, type KnownWorkspace } from './crash/expect-intact.ts';
import { done } from './crash/mutation-kinds.ts';
import { hashOf } from './crash/receipt-replay.ts';
import { WorkspaceDaemon } from './crash/workspace-daemon.ts';

const ROUNDS = deep ? 50 : 4;

test('two commands at once, writers beside them and edits from outside: each change is in one receipt', {
  timeout: 600_000,
}, async () => {
  await using folder = await tempFolder();
  const project = join(folder.path, 'project');
  mkdirSync(join(project, 'outside'), { recursive: true });
  const world = {
    project,
    dataDir: join(folder.path, 'data'),
    start: new Map<string, string>(),
    acknowledged: new Set<string>(),
    poolThreads: 4,
    isOutside: (path: string) => path.startsWith('outside/'),
  } satisfies KnownWorkspace & Parameters<typeof WorkspaceDaemon.start>[0];
  await using daemon = await WorkspaceDaemon.start(world);
  /** Every change that was made: path and content → who made it. */
  const made = new Map<string, 'command' | 'door'>();
  const rounds: { readonly a: string; readonly b: string }[] = [];

  for (let round = 0; round < ROUNDS; round += 1) {
    // Nobody's command runs now: this is the user's.
    writeFileSync(join(project, `outside/${round}.txt`), `outside ${round}\n`);
    writeFileSync(join(project, 'outside/always.txt'), `outside ${round}\n`);
    const a = await startCommand(daemon, folder.path, `a${round}`);
    const b = await startCommand(daemon, folder.path, `b${round}`);
    const writes = Array.from({ length: 16 }, async (_, writer) => {
      const content = `writer ${writer} ${round}\n`;
      await done(daemon.write(`door/${writer % 4}.txt`, content));
      made.set(keyOf(`door/${writer % 4}.txt`, hashOf(content)), 'door');
    });
    const ends = round % 2 === 0 ? [a, b] : [b, a];
    for (const command of ends) await command.finish();
    await Promise.all(writes);
    for (const name of [`a${round}`, `b${round}`])
      for (const [path, content] of changesOf(name)) made.set(keyOf(path, hashOf(content)), 'command');
    rounds.push({ a: a.runId, b: b.runId });
  }

  const chain = await expectIntact(daemon, world);
  const receipted = chain.flatMap((receipt) =>
    receipt.files
      .filter(({ path }) => !path.endsWith('/'))
      .map(({ path, after_hash }) => [keyOf(path, after_hash), makerOf(receipt)] as const),
  );
  expect(receipted.toSorted()).toEqual([...made].toSorted());
  // Which of the two a change is listed with can't be known; that the other ran at the same time is said.
  for (const { a, b } of rounds) {
    const ofRound = chain.filter(({ run_id }) => run_id === a || run_id === b);
    expect(ofRound.length).toBeGreaterThan(0);
    for (const { run_id, concurrent_runs } of ofRound)
      expect(concurrent_runs).toEqual([run_id === a ? b : a]);
  }
  console.info(
    `${ROUNDS} rounds of two commands, 16 writers and edits from outside: ${receipted.length} changes, ` +
      `each in one of ${chain.length} receipts`,
  );
});

const keyOf = (path: string, hash: string) => `${path} ${hash}`;
const makerOf = ({ tool }: Receipt) => (tool === 'shell.run' ? 'command' : 'door');

/** What a command makes: one file before it waits, one after. */
function changesOf(name: string): [path: string, content: string][] {
  return [
    [`out/${name}-first.txt`, `${name} first\n`],
    [`out/${name}-last.txt`, `${name} last\n`],
  ];
}

/** Starts a command that makes its first change, says so, and waits for a word from the test to make the last. */
async function startCommand(daemon: WorkspaceDaemon, scratch: string, name: string) {
  const word = join(scratch, `${name}.fifo`);
  execFileSync('mkfifo', [word]);
  const [[first, firstText], [last, lastText]] = changesOf(name) as [[string, string], [string, string]];
  const cmd =
    `mkdir -p out; echo '${firstText.trim()}' > ${first}; echo ready; ` +
    `read _ < '${word}'; echo '${lastText.trim()}' > ${last}`;
  const response = await daemon.panel.send('POST', '/api/shell/run', { cmd });
  const frames = readFrames(response);
  const { value: ready } = await frames.next();
  expect(ready).toMatchObject({ type: 'stdout', line: 'ready' });
  const runId = await runIdOf(daemon, response.headers.get('x-job-id'));
  return {
    runId,
    finish: async () => {
      writeFileSync(word, 'go\n');
      for await (const frame of frames) if (frame.type === 'exit') expect(frame).toMatchObject({ code: 0 });
      await daemon.settled(runId);
    },
  };
}

async function runIdOf(daemon: WorkspaceDaemon, jobId: string | null): Promise<string> {
  const job = (await daemon.jobs()).find(({ job_id }) => job_id === jobId);
  if (job === undefined) throw new Error(`no job ${jobId} is running`);
  return job.run_id;
}
