import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { whyNoSshd } from '../../daemon/testing/sshd.ts';
import type { DaemonUnderTest } from '../daemon-under-test.ts';
import { idleBytes, peakResidentBytes } from '../memory.ts';
import { type Bench, figure, type Row, type RowResult, ratioTarget, target } from '../row.ts';
import { runProgram } from '../run-program.ts';
import { sshAlias, startSshd } from '../sshd.ts';
import { shuffled } from '../statistics.ts';

const fileBytes = 50_000_000;
const sampleMs = 10;

/** 50 MB from a host into a file that was not there, with its receipt, beside scp. */
export const sshPull: Row = { name: 'ssh-pull', run };

async function run(bench: Bench): Promise<RowResult> {
  const noSshd = whyNoSshd();
  if (noSshd !== undefined) throw new Error(noSshd);
  const rounds = bench.quick ? 4 : 16;
  const remote = join(mkdtempSync(join(bench.tempDir, 'remote-')), 'file.bin');
  writeFileSync(remote, randomBytes(fileBytes));
  await using sshd = await startSshd(bench.tempDir);
  await using daemon = await bench.daemon.launch({}, ['--ssh-config', sshd.configFile]);
  const pulled = join(daemon.projectDir, 'pulled', sshAlias, 'file.bin');
  const copied = join(mkdtempSync(join(bench.tempDir, 'copied-')), 'file.bin');

  const variants = {
    tallystick: () => pull(daemon, remote),
    scp: async () => {
      const args = ['-q', '-F', sshd.configFile, `${sshAlias}:${remote}`, copied];
      return (await runProgram('scp', args, 120_000)).seconds;
    },
  };
  const rates = { tallystick: [] as number[], scp: [] as number[] };
  const peaks: number[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    for (const name of shuffled(['tallystick', 'scp'] as const)) {
      bench.progress(`round ${round} of ${rounds}: ${name}`);
      rmSync(pulled, { force: true });
      rmSync(copied, { force: true });
      const { result, peakBytes } = await peakResidentBytes(daemon.pid, sampleMs, variants[name]);
      execFileSync('cmp', [remote, name === 'scp' ? copied : pulled]);
      if (round === 0) continue;
      rates[name].push(fileBytes / 1e6 / result);
      if (name === 'tallystick') peaks.push(peakBytes / 1e6);
    }
  }
  const [early, late] = [peaks.slice(0, rounds / 2), peaks.slice(rounds / 2)];
  const growth = Math.max(...late) / Math.max(...early);
  return {
    row: 'ssh-pull',
    title: `${fileBytes / 1e6} MB from a host, ${rounds} rounds`,
    figures: [
      figure('tallystick', 'MB/s', rates.tallystick),
      figure('scp', 'MB/s', rates.scp),
      figure('resident while it pulls, highest', 'MB', peaks),
      figure('resident when idle after all', 'MB', [(await idleBytes(daemon.pid)) / 1e6]),
    ],
    targets: [
      ratioTarget('throughput / scp', rates.tallystick, rates.scp, 'at least', 0.8),
      target('highest resident, last half / first half', '×', growth, 'at most', 1.1),
    ],
    notes: ['ours is on the disk, with its receipt, when it answers; scp does not wait for the disk'],
  };
}

async function pull({ url, key }: DaemonUnderTest, remotePath: string): Promise<number> {
  const started = performance.now();
  const response = await fetch(`${url}/api/shell/ssh-pull`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${key}` },
    body: JSON.stringify({ host: sshAlias, remote_path: remotePath }),
  });
  const text = await response.text();
  const seconds = (performance.now() - started) / 1000;
  if (response.status !== 200 || JSON.parse(text).receipt_id === null)
    throw new Error(`the pull answered ${response.status}: ${text}`);
  return seconds;
}
