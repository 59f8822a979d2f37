import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import type { CommandTimeAnswer, CommandTimeInput } from '../clients/command-time.ts';
import type { DaemonUnderTest } from '../daemon-under-test.ts';
import { makeLargeTree, post } from '../large-tree.ts';
import { type Bench, figure, type Row, type RowResult, ratioTarget, target } from '../row.ts';
import { runClient } from '../run-program.ts';
import { summarize } from '../statistics.ts';

const largeFiles = 50_000;
const touchTen = 'for i in 0 1 2 3 4 5 6 7 8 9; do date +%s%N >> folder-$i/file-$i.txt; done';

/** What it costs a command that its changes are found and receipted. */
export const shellReceipt: Row = { name: 'shell-receipt', run };

async function run(bench: Bench): Promise<RowResult> {
  const pairs = bench.quick ? 10 : 30;
  await using daemon = await bench.daemon.launch();
  const small = await project(bench, daemon, 500);
  const large = await project(bench, daemon, largeFiles);
  const time = (cwd: string, cmd: string, filesChanged: number) => {
    bench.progress(`${cmd.slice(0, 10)} in ${cwd}`);
    const input: CommandTimeInput = { url: daemon.url, key: daemon.key, cwd, cmd, pairs, filesChanged };
    return runClient<CommandTimeAnswer>(bench.program('command-time'), input, 300_000);
  };
  const inLarge = await time(large, 'true', 0);
  const found = await time(large, touchTen, 10);
  await post(`${daemon.url}/api/project/load`, daemon.key, { path: small });
  const inSmall = await time(small, 'true', 0);
  const git = gitTimes(bench, large, pairs);
  const extra = ({ receipted, plain }: CommandTimeAnswer) => receipted.map((ms, at) => ms - (plain[at] ?? 0));
  return {
    row: 'shell-receipt',
    title: `commands to their end, with receipts and as plain sh -c, ${pairs} pairs each`,
    figures: [
      figure('true in 500 files: extra', 'ms', extra(inSmall)),
      figure(`true in ${largeFiles} files: extra`, 'ms', extra(inLarge)),
      figure(`10 changed in ${largeFiles} files: extra`, 'ms', extra(found)),
      figure('git add -A && git write-tree', 'ms', git),
    ],
    targets: [
      target('true in 500 files: extra', 'ms', summarize(extra(inSmall)).median, 'at most', 30),
      target(`true in ${largeFiles} files: extra`, 'ms', summarize(extra(inLarge)).median, 'at most', 90),
      ratioTarget('10 changed / git', extra(found), git, 'at most', 0.7),
    ],
    notes: ['extra: what the command took longer than a plain sh -c of it, its receipt durable'],
  };
}

async function project(bench: Bench, daemon: DaemonUnderTest, files: number): Promise<string> {
  bench.progress(`a project of ${files} files`);
  const folder = mkdtempSync(join(bench.tempDir, 'tree-'));
  makeLargeTree(folder, files);
  await post(`${daemon.url}/api/project/load`, daemon.key, { path: folder });
  // The first command waits until the tree is known.
  await post(`${daemon.url}/api/shell/run`, daemon.key, { cmd: 'true' });
  return folder;
}

/** Milliseconds to find and store ten changed files with git, in a copy of the tree. */
function gitTimes(bench: Bench, tree: string, rounds: number): number[] {
  bench.progress('git add -A && git write-tree');
  const folder = mkdtempSync(join(bench.tempDir, 'git-tree-'));
  cpSync(tree, folder, { recursive: true });
  execFileSync('git', ['init', '-q'], { cwd: folder });
  const find = () =>
    execFileSync('sh', ['-c', 'git add -A && git write-tree'], { cwd: folder, stdio: 'ignore' });
  find();
  return Array.from({ length: rounds }, () => {
    execFileSync('sh', ['-c', touchTen], { cwd: folder });
    const started = performance.now();
    find();
    return performance.now() - started;
  });
}
