import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { lineBytes, linesFile } from '../lines-file.ts';
import { type Bench, figure, type Row, type RowResult, ratioTarget } from '../row.ts';
import { curlVariant, interleave, type StreamServer, verified } from './stream-variants.ts';

const lineCount = 1_000_000;
const secretCount = 100;

/** The stream of the row `stream` from a workspace with secrets, all of which are looked for, beside one without. */
export const streamSecrets: Row = { name: 'stream-secrets', run };

async function run(bench: Bench): Promise<RowResult> {
  const input = linesFile(join(bench.cacheDir, `lines-${lineCount}x${lineBytes}.txt`), lineCount);
  const cmd = `cat '${input.path}'`;
  await using plain = await bench.daemon.launch();
  await using secretive = await bench.daemon.launch(randomSecrets());
  const servers: StreamServer[] = [
    { name: 'no secrets', url: plain.url, key: plain.key },
    { name: `${secretCount} secrets`, url: secretive.url, key: secretive.key },
  ];
  const variants = [];
  for (const server of servers) {
    const { bodyBytes } = await verified(bench, server, cmd, input);
    variants.push(curlVariant(server, cmd, bodyBytes));
  }
  const rounds = bench.quick ? 3 : 9;
  const times = await interleave(bench, variants, rounds, async () => undefined);
  const of = (name: string) => times.get(name) ?? [];
  return {
    row: 'stream-secrets',
    title: `${lineCount.toLocaleString('en')} lines of ${lineBytes} bytes, ${rounds} rounds`,
    figures: variants.map(({ name }) => figure(name, 's', of(name))),
    targets: [
      ratioTarget('time / no secrets', of(`${secretCount} secrets`), of('no secrets'), 'at most', 1.5),
    ],
    notes: ['every line came through both, in order'],
  };
}

/** 8 to 64 characters, as keys and passwords have. */
function randomSecrets(): Record<string, string> {
  const names = Array.from({ length: secretCount }, (_, at) => `SECRET_${at}`);
  return Object.fromEntries(
    names.map((name, at) => [
      name,
      randomBytes(48)
        .toString('base64url')
        .slice(0, 8 + (at * 56) / secretCount),
    ]),
  );
}
