import { join } from 'node:path';
import { whyNoSshd } from '../../daemon/testing/sshd.ts';
import { lineBytes, linesFile } from '../lines-file.ts';
import { type Bench, figure, type Row, type RowResult, ratioTarget } from '../row.ts';
import { sshAlias, startSshd } from '../sshd.ts';
import { curlVariant, interleave, type StreamServer, sshVariants, verified } from './stream-variants.ts';

const lineCount = 1_000_000;

/** A million lines from a command on a host to curl, beside ssh on a connection of its own. */
export const sshStream: Row = { name: 'ssh-stream', run };

async function run(bench: Bench): Promise<RowResult> {
  const noSshd = whyNoSshd();
  if (noSshd !== undefined) throw new Error(noSshd);
  const input = linesFile(join(bench.cacheDir, `lines-${lineCount}x${lineBytes}.txt`), lineCount);
  const cmd = `cat '${input.path}'`;
  await using sshd = await startSshd(bench.tempDir);
  await using daemon = await bench.daemon.launch({}, ['--ssh-config', sshd.configFile]);

  const ours: StreamServer = { name: 'tallystick', url: daemon.url, key: daemon.key, host: sshAlias };
  const { bodyBytes } = await verified(bench, ours, cmd, input);
  const variants = [curlVariant(ours, cmd, bodyBytes), ...(await sshVariants(sshd, cmd, input.bytes))];
  const rounds = bench.quick ? 3 : 9;
  const times = await interleave(bench, variants, rounds, () => verified(bench, ours, cmd, input));
  const of = (name: string) => times.get(name) ?? [];
  return {
    row: 'ssh-stream',
    title: `${lineCount.toLocaleString('en')} lines of ${lineBytes} bytes from a host, ${rounds} rounds`,
    figures: variants.map(({ name }) => figure(name, 's', of(name))),
    targets: [ratioTarget('time / ssh', of('tallystick'), of('ssh'), 'at most', 1.3)],
    notes: [`nothing lost in ${rounds + 1} passes that decoded every frame: sha256 ${input.sha256}`],
  };
}
