import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { MutationsAnswer, MutationsInput } from '../clients/mutations.ts';
import { type Bench, figure, type Row, type RowResult, ratioTarget } from '../row.ts';
import { runClient } from '../run-program.ts';
import { shuffled } from '../statistics.ts';

/** Writing 2 KB through the whole door over HTTP, beside a durable commit with git. */
export const mutation: Row = { name: 'mutation', run };

type Variant = 'one writer' | '64 writers' | 'git';

async function run(bench: Bench): Promise<RowResult> {
  const rounds = bench.quick ? 2 : 5;
  await using daemon = await bench.daemon.launch();
  const repository = makeRepository(bench.tempDir);
  const write = (writers: number, count: number) =>
    runClient<MutationsAnswer>(
      bench.program('mutations'),
      { url: daemon.url, key: daemon.key, writers, count } satisfies MutationsInput,
      120_000,
    );
  await write(64, 640);
  const rates: Record<Variant, number[]> = { 'one writer': [], '64 writers': [], git: [] };
  const p95: number[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    for (const variant of shuffled(['one writer', '64 writers', 'git'] as const)) {
      bench.progress(`round ${round} of ${rounds}: ${variant}`);
      if (variant === 'git') rates.git.push(commitsPerSecond(repository, 60));
      else {
        const answer = variant === 'one writer' ? await write(1, 600) : await write(64, 3200);
        rates[variant].push(answer.perSecond);
        if (variant === 'one writer') p95.push(answer.p95Ms);
      }
    }
  }
  return {
    row: 'mutation',
    title: `2 KB file writes over HTTP with receipt, snapshot and checkpoint, ${rounds} rounds`,
    figures: [
      figure('one writer', 'per s', rates['one writer']),
      figure('64 writers', 'per s', rates['64 writers']),
      figure('git add + commit, core.fsync=all', 'per s', rates.git),
      figure('one writer p95', 'ms', p95),
    ],
    targets: [
      ratioTarget('one writer / git', rates['one writer'], rates.git, 'at least', 5),
      ratioTarget('64 writers / git', rates['64 writers'], rates.git, 'at least', 20),
    ],
    notes: ['client, daemon and git share the machine; every answer had its receipt'],
  };
}

function makeRepository(tempDir: string): string {
  const folder = mkdtempSync(join(tempDir, 'git-'));
  git(folder, 'init', '-q');
  mkdirSync(join(folder, 'src'));
  return folder;
}

function commitsPerSecond(folder: string, count: number): number {
  const started = performance.now();
  for (let at = 0; at < count; at += 1) {
    const path = `src/file-${at % 10}.txt`;
    writeFileSync(join(folder, path), `${performance.now()}\n${'x'.repeat(2000)}\n`);
    git(folder, 'add', path);
    git(folder, 'commit', '-q', '-m', 'change');
  }
  return count / ((performance.now() - started) / 1000);
}

function git(folder: string, ...args: string[]): void {
  const config = ['core.fsync=all', 'user.name=bench', 'user.email=bench@localhost', 'gc.auto=0'];
  execFileSync('git', [...config.flatMap((entry) => ['-c', entry]), ...args], {
    cwd: folder,
    stdio: 'ignore',
  });
}
