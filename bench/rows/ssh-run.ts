import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { whyNoSshd } from '../../daemon/testing/sshd.ts';
import type { SshEchoAnswer, SshEchoInput } from '../clients/ssh-echo.ts';
import { type Bench, figure, type Row, type RowResult, ratioTarget } from '../row.ts';
import { runClient, runProgram } from '../run-program.ts';
import { type Sshd, sshAlias, startSshd } from '../sshd.ts';
import { quantile } from '../statistics.ts';

const turns = 50;

/** A short command on a host, over the daemon's warm connection, beside ssh without and with a connection at hand. */
export const sshRun: Row = { name: 'ssh-run', run };

async function run(bench: Bench): Promise<RowResult> {
  const noSshd = whyNoSshd();
  if (noSshd !== undefined) throw new Error(noSshd);
  const rounds = bench.quick ? 1 : 5;
  await using sshd = await startSshd(bench.tempDir);
  await using daemon = await bench.daemon.launch({}, ['--ssh-config', sshd.configFile]);
  await using master = await startMaster(sshd, bench.tempDir);
  const answers: SshEchoAnswer[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    bench.progress(`round ${round} of ${rounds}`);
    const input: SshEchoInput = {
      url: daemon.url,
      key: daemon.key,
      host: sshAlias,
      fresh: ['-F', sshd.configFile, '-o', 'ControlPath=none', sshAlias, 'echo hi'],
      shared: ['-F', sshd.configFile, '-o', `ControlPath=${master.socket}`, sshAlias, 'echo hi'],
      turns,
    };
    answers.push(await runClient<SshEchoAnswer>(bench.program('ssh-echo'), input, 120_000));
  }
  const of = (which: keyof SshEchoAnswer, q: number) => answers.map((answer) => quantile(answer[which], q));
  return {
    row: 'ssh-run',
    title: `echo hi on a host, to its end, ${turns} turns in each of ${rounds} rounds`,
    figures: [
      figure('tallystick p50', 'ms', of('ours', 0.5)),
      figure('tallystick first frame p50', 'ms', of('firstFrame', 0.5)),
      figure('ssh p50', 'ms', of('fresh', 0.5)),
      figure('ssh with ControlMaster p50', 'ms', of('shared', 0.5)),
      figure('tallystick p95', 'ms', of('ours', 0.95)),
      figure('ssh with ControlMaster p95', 'ms', of('shared', 0.95)),
    ],
    targets: [
      ratioTarget('p50 / ssh', of('ours', 0.5), of('fresh', 0.5), 'at most', 0.1),
      ratioTarget('p50 / ControlMaster', of('ours', 0.5), of('shared', 0.5), 'at most', 1),
    ],
    notes: [
      'ours ends with the exit frame, whose receipt is durable; client, daemon and sshd share the machine',
    ],
  };
}

/** A connection that others go through; disposing ends it. */
async function startMaster(sshd: Sshd, tempDir: string): Promise<AsyncDisposable & { socket: string }> {
  const socket = join(mkdtempSync(join(tempDir, 'master-')), 's');
  const over = ['-F', sshd.configFile, '-o', `ControlPath=${socket}`];
  // In the background, it would hold the pipes that runProgram reads to their end.
  const quiet = 'exec ssh "$@" >/dev/null 2>&1 </dev/null';
  await runProgram('sh', ['-c', quiet, 'sh', ...over, '-o', 'ControlMaster=yes', '-fN', sshAlias], 30_000);
  const exit = () => runProgram('ssh', [...over, '-O', 'exit', sshAlias], 30_000);
  return { socket, [Symbol.asyncDispose]: async () => void (await exit()) };
}
