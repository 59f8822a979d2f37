import { startServer } from '../child-server.ts';
import type { KeyedGetAnswer, KeyedGetInput } from '../clients/keyed-get.ts';
import { type Bench, figure, type Row, type RowResult, ratioTarget } from '../row.ts';
import { runClient } from '../run-program.ts';
import { shuffled } from '../statistics.ts';

const connections = 10;

/** Small authenticated reads, beside a stock Express app that only sends the same JSON. */
export const keyedGet: Row = { name: 'keyed-get', run };

async function run(bench: Bench): Promise<RowResult> {
  const rounds = bench.quick ? 3 : 7;
  const seconds = bench.quick ? 1.5 : 3;
  await using daemon = await bench.daemon.launch();
  const ask = (input: Pick<KeyedGetInput, 'url' | 'key'>) =>
    runClient<KeyedGetAnswer>(bench.program('keyed-get'), { ...input, connections, seconds }, 60_000);
  const ours = { url: `${daemon.url}/api/project/recent`, key: daemon.key };
  const { body } = await ask(ours);
  await using express = await startServer([bench.program('express-app')], {
    ANSWER: body,
    NODE_ENV: 'production',
  });
  const theirs = { url: `${express.ready.url}/answer` };
  if ((await ask(theirs)).body !== body) throw new Error('the two servers did not answer the same JSON');

  const answers = { tallystick: [] as KeyedGetAnswer[], express: [] as KeyedGetAnswer[] };
  for (let round = 1; round <= rounds; round += 1) {
    for (const name of shuffled(['tallystick', 'express'] as const)) {
      bench.progress(`round ${round} of ${rounds}: ${name}`);
      answers[name].push(await ask(name === 'tallystick' ? ours : theirs));
    }
  }
  const of = (name: keyof typeof answers, what: 'perSecond' | 'p50Ms' | 'p99Ms') =>
    answers[name].map((answer) => answer[what]);
  return {
    row: 'keyed-get',
    title: `GET /api/project/recent with a key, ${connections} connections, ${rounds} rounds of ${seconds} s`,
    figures: [
      figure('tallystick', 'req/s', of('tallystick', 'perSecond')),
      figure('express res.json', 'req/s', of('express', 'perSecond')),
      figure('tallystick p50', 'ms', of('tallystick', 'p50Ms')),
      figure('express p50', 'ms', of('express', 'p50Ms')),
      figure('tallystick p99', 'ms', of('tallystick', 'p99Ms')),
      figure('express p99', 'ms', of('express', 'p99Ms')),
    ],
    targets: [
      ratioTarget(
        'speed / express',
        of('tallystick', 'perSecond'),
        of('express', 'perSecond'),
        'at least',
        1.3,
      ),
      ratioTarget('p99 / express', of('tallystick', 'p99Ms'), of('express', 'p99Ms'), 'at most', 1),
    ],
    notes: [`the answer has ${Buffer.byteLength(body)} bytes; every one was compared`],
  };
}
