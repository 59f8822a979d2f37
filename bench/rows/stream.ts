import { join } from 'node:path';
import { whyNoSshd } from '../../daemon/testing/sshd.ts';
import { startServer } from '../child-server.ts';
import { lineBytes, linesFile } from '../lines-file.ts';
import { type Bench, figure, type Row, type RowResult, ratioTarget } from '../row.ts';
import { startSshd } from '../sshd.ts';
import {
  curlVariant,
  interleave,
  type StreamServer,
  shellVariant,
  sshVariants,
  verified,
} from './stream-variants.ts';

const lineCount = 1_000_000;

/** A million lines from a command to curl, with a key, beside relays that do less and beside ssh. */
export const stream: Row = { name: 'stream', run };

async function run(bench: Bench): Promise<RowResult> {
  const input = linesFile(join(bench.cacheDir, `lines-${lineCount}x${lineBytes}.txt`), lineCount);
  const cmd = `cat '${input.path}'`;
  const noSshd = whyNoSshd();
  await using daemon = await bench.daemon.launch();
  await using byteRelay = await startServer([bench.program('byte-relay')]);
  await using lineRelay = await startServer([bench.program('line-relay')]);
  await using sshd = noSshd === undefined ? await startSshd(bench.tempDir) : undefined;

  const ours: StreamServer = { name: 'tallystick', url: daemon.url, key: daemon.key };
  const relays = [
    { name: 'byte-loop relay', url: byteRelay.ready.url },
    { name: 'one write per line', url: lineRelay.ready.url },
  ];
  const variants = [shellVariant('cat | cat', `${cmd} | cat >/dev/null`)];
  for (const server of [ours, ...relays]) {
    const { bodyBytes } = await verified(bench, server, cmd, input);
    variants.push(curlVariant(server, cmd, bodyBytes));
  }
  if (sshd !== undefined) variants.push(...(await sshVariants(sshd, cmd, input.bytes)));

  const rounds = bench.quick ? 3 : 9;
  const times = await interleave(bench, variants, rounds, () => verified(bench, ours, cmd, input));
  const of = (name: string) => times.get(name) ?? [];
  const targets = [
    ratioTarget('time / byte-loop relay', of('tallystick'), of('byte-loop relay'), 'at most', 1.6),
    ratioTarget('speed / one write per line', of('one write per line'), of('tallystick'), 'at least', 3),
  ];
  if (sshd !== undefined)
    targets.push(ratioTarget('time / ssh', of('tallystick'), of('ssh'), 'at most', 1.15));
  const notes = [`nothing lost in ${rounds + 1} passes that decoded every frame: sha256 ${input.sha256}`];
  if (noSshd !== undefined) notes.push(`ssh is left out: ${noSshd}`);
  return {
    row: 'stream',
    title: `${lineCount.toLocaleString('en')} lines of ${lineBytes} bytes, ${rounds} rounds`,
    figures: variants.map(({ name }) => figure(name, 's', of(name))),
    targets,
    notes,
  };
}
