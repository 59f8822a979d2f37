import type { FirstFrameAnswer } from '../clients/first-frame.ts';
import { type Bench, figure, type Row, type RowResult, ratioTarget } from '../row.ts';
import { runClient } from '../run-program.ts';
import { quantile } from '../statistics.ts';

const pairs = 200;

/** How long until an agent sees the first output of a command, beside running it without us. */
export const firstFrame: Row = { name: 'first-frame', run };

async function run(bench: Bench): Promise<RowResult> {
  const rounds = bench.quick ? 1 : 3;
  await using daemon = await bench.daemon.launch();
  const answers: FirstFrameAnswer[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    bench.progress(`round ${round} of ${rounds}`);
    const input = { url: daemon.url, key: daemon.key, pairs };
    answers.push(await runClient<FirstFrameAnswer>(bench.program('first-frame'), input, 120_000));
  }
  const of = (which: 'framed' | 'plain', q: number) => answers.map((answer) => quantile(answer[which], q));
  const clientMb = Math.max(...answers.map(({ clientRssBytes }) => clientRssBytes)) / 1e6;
  return {
    row: 'first-frame',
    title: `first frame of echo hi over keep-alive, ${pairs} pairs in each of ${rounds} rounds`,
    figures: [
      figure('tallystick p50', 'ms', of('framed', 0.5)),
      figure('sh -c p50', 'ms', of('plain', 0.5)),
      figure('tallystick p95', 'ms', of('framed', 0.95)),
      figure('sh -c p95', 'ms', of('plain', 0.95)),
    ],
    targets: [
      ratioTarget('p50 / sh -c', of('framed', 0.5), of('plain', 0.5), 'at most', 1.4),
      ratioTarget('p95 / sh -c', of('framed', 0.95), of('plain', 0.95), 'at most', 1.8),
    ],
    notes: [
      `the process that spawned sh -c had ${clientMb.toFixed(0)} MB: spawning costs more from a larger one`,
    ],
  };
}
