import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { makeLargeTree, post } from '../large-tree.ts';
import { type Bench, figure, type Row, type RowResult, target } from '../row.ts';
import { quantile } from '../statistics.ts';

const files = 50_000;

/** The first load of a large project: how long others wait meanwhile. */
export const firstLoad: Row = { name: 'first-load', run };

async function run(bench: Bench): Promise<RowResult> {
  const rounds = bench.quick ? 1 : 3;
  const folder = mkdtempSync(join(bench.tempDir, 'tree-'));
  bench.progress(`a project of ${files} files`);
  makeLargeTree(folder, files);
  const waits: number[][] = [];
  const seconds: number[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    bench.progress(`round ${round} of ${rounds}`);
    await using daemon = await bench.daemon.launch();
    const started = performance.now();
    await post(`${daemon.url}/api/project/load`, daemon.key, { path: folder });
    let known = false;
    // The first command waits until the tree is known.
    const first = post(`${daemon.url}/api/shell/run`, daemon.key, { cmd: 'true' }).then(() => {
      known = true;
      seconds.push((performance.now() - started) / 1000);
    });
    const requestMs: number[] = [];
    while (!known) {
      const asked = performance.now();
      const response = await fetch(`${daemon.url}/healthz`);
      await response.text();
      requestMs.push(performance.now() - asked);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    await first;
    waits.push(requestMs);
  }
  const worst = figure(
    'longest other request',
    'ms',
    waits.map((ms) => Math.max(...ms)),
  );
  return {
    row: 'first-load',
    title: `first load of ${files} files, ${rounds} rounds, a fresh daemon in each; GET /healthz all the while`,
    figures: [
      worst,
      figure(
        'other requests p99',
        'ms',
        waits.map((ms) => quantile(ms, 0.99)),
      ),
      figure('until the tree is known', 's', seconds),
    ],
    targets: [target(worst.name, 'ms', worst.high, 'at most', 50)],
    notes: ['the client measures in the same process that waits for the load: its own pauses count too'],
  };
}
