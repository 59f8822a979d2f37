import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startServer } from '../child-server.ts';
import { idleBytes } from '../memory.ts';
import { type Bench, figure, type Row, type RowResult, ratioTarget, target } from '../row.ts';
import { quantile, shuffled } from '../statistics.ts';

/** Process start to the first 200 on /healthz, and memory when nothing is asked, beside bare Express. */
export const start: Row = { name: 'start', run };

async function run(bench: Bench): Promise<RowResult> {
  const rounds = bench.quick ? 7 : 21;
  const dataDir = mkdtempSync(join(bench.tempDir, 'start-'));
  const args = { tallystick: bench.daemon.args(dataDir), express: [bench.program('express-app')] };
  const startMs = { tallystick: [] as number[], express: [] as number[] };
  const idleMb = { tallystick: [] as number[], express: [] as number[] };
  for (let round = 0; round <= rounds; round += 1) {
    bench.progress(`round ${round} of ${rounds}`);
    for (const name of shuffled(['tallystick', 'express'] as const)) {
      const { ms, idle } = await startOnce(args[name], round > 0 && round % 5 === 1);
      if (round > 0) startMs[name].push(ms); // the first fills the compile cache and the disk cache
      if (idle !== undefined) idleMb[name].push(idle / 1e6);
    }
  }
  const idle = figure('tallystick idle', 'MB', idleMb.tallystick);
  const p95 = (name: keyof typeof startMs) =>
    figure(`${name} start p95`, 'ms', [quantile(startMs[name], 0.95)]);
  return {
    row: 'start',
    title: `process start to first 200 on /healthz, ${rounds} rounds; memory after 2 s`,
    figures: [
      figure('tallystick start', 'ms', startMs.tallystick),
      figure('express start', 'ms', startMs.express),
      p95('tallystick'),
      p95('express'),
      idle,
      figure('express idle', 'MB', idleMb.express),
    ],
    targets: [
      ratioTarget('start / express', startMs.tallystick, startMs.express, 'at most', 1),
      target('idle memory', 'MB', idle.median, 'at most', 80),
    ],
    notes: [
      'both print their port when they listen; the time ends with the answer to the one request that follows',
    ],
  };
}

async function startOnce(args: readonly string[], withIdle: boolean) {
  const started = performance.now();
  await using server = await startServer(args);
  const response = await fetch(`${server.ready.url}/healthz`);
  const ms = performance.now() - started;
  await response.arrayBuffer();
  if (response.status !== 200) throw new Error(`/healthz answered ${response.status}`);
  if (!withIdle) return { ms };
  await delay(1000);
  return { ms, idle: await idleBytes(server.pid) };
}
