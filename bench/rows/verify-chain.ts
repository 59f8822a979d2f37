import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeChain } from '../../daemon/receipts/testing/make-chain.ts';
import { endWithUs } from '../end-with-us.ts';
import { residentBytes } from '../memory.ts';
import { type Bench, figure, type Row, type RowResult, ratioTarget } from '../row.ts';
import { runProgram } from '../run-program.ts';
import { shuffled } from '../statistics.ts';

/** `tallystick verify` over a long chain, files as stored, beside sha256sum over the same files. */
export const verifyChain: Row = { name: 'verify-chain', run };

const receipts = 100_000;
const shortReceipts = 10_000;
const timeoutMs = 300_000;

interface KeptChain {
  readonly folder: string;
  readonly count: number;
  readonly key: string;
  readonly head: string;
}

async function run(bench: Bench): Promise<RowResult> {
  const rounds = bench.quick ? 3 : 7;
  bench.progress(`making a chain of ${receipts}, the first time only`);
  const chain = keptChain(bench.cacheDir, receipts);
  const short = keptChain(bench.cacheDir, shortReceipts);
  const seconds = { signed: [] as number[], unsigned: [] as number[], sha256sum: [] as number[] };
  const peakMb = { long: [] as number[], short: [] as number[] };
  for (let round = 0; round <= rounds; round += 1) {
    bench.progress(`round ${round} of ${rounds}`);
    for (const name of shuffled(['signed', 'unsigned', 'sha256sum', 'short'] as const)) {
      const measured =
        name === 'sha256sum' ? await sha256sum(chain) : await verify(bench, name, chain, short);
      if (round === 0) continue; // the first brings the files into memory
      if (name !== 'short') seconds[name].push(measured.seconds);
      if (name === 'signed' || name === 'short')
        peakMb[name === 'short' ? 'short' : 'long'].push(measured.peakBytes / 1e6);
    }
  }
  return {
    row: 'verify-chain',
    title: `${receipts.toLocaleString('en')} receipts of 2 KB, files as stored, ${rounds} rounds`,
    figures: [
      figure('tallystick verify --key', 's', seconds.signed),
      figure('tallystick verify', 's', seconds.unsigned),
      figure('xargs sha256sum', 's', seconds.sha256sum),
      figure('peak memory', 'MB', peakMb.long),
      figure(`peak memory, ${shortReceipts.toLocaleString('en')} receipts`, 'MB', peakMb.short),
    ],
    targets: [
      ratioTarget('verify --key / sha256sum', seconds.signed, seconds.sha256sum, 'at most', 1),
      ratioTarget('memory, 100,000 / 10,000 receipts', peakMb.long, peakMb.short, 'at most', 1.3),
    ],
    notes: [
      'both read every file; verify also judges bytes, links, index and checkpoint, sha256sum one hash each',
    ],
  };
}

/** Made once and kept: it is the same chain for every build. */
function keptChain(cacheDir: string, count: number): KeptChain {
  const base = join(cacheDir, `chain-${count}`);
  const folder = join(base, 'receipts');
  const told = join(base, 'chain.json');
  if (!existsSync(told)) {
    rmSync(base, { recursive: true, force: true });
    mkdirSync(base, { recursive: true });
    const { key, head } = makeChain({ folder, count });
    writeFileSync(told, JSON.stringify({ folder, count, key, head }));
  }
  return JSON.parse(readFileSync(told, 'utf8'));
}

async function sha256sum({ folder }: KeptChain) {
  const command = `find . -name 'rcpt_*.json' -print0 | xargs -0 sha256sum | wc -l`;
  const { stdout, seconds } = await runProgram(
    'sh',
    ['-c', `cd "$1" && ${command}`, 'sh', folder],
    timeoutMs,
  );
  if (Number(stdout) !== receipts) throw new Error(`sha256sum read ${stdout} files`);
  return { seconds, peakBytes: 0 };
}

async function verify(
  bench: Bench,
  name: 'signed' | 'unsigned' | 'short',
  long: KeptChain,
  short: KeptChain,
) {
  const { folder, key, head, count } = name === 'short' ? short : long;
  // The launcher's arguments, as far as they start the command at all.
  const all = bench.daemon.args('');
  const entry = all.slice(0, all.indexOf('serve'));
  const signed = name === 'unsigned' ? [] : ['--key', key];
  const started = performance.now();
  const child = spawn(process.execPath, [...entry, 'verify', folder, '--head', head, '--json', ...signed], {
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: timeoutMs,
  });
  endWithUs(child);
  let stdout = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  let peakBytes = 0;
  const sampling = setInterval(() => {
    peakBytes = Math.max(peakBytes, peakNow(child.pid ?? 0));
  }, 20);
  const closed = once(child, 'close');
  await once(child, 'exit');
  const seconds = (performance.now() - started) / 1000;
  clearInterval(sampling);
  await closed;
  const verdict: { valid?: boolean; checked?: number } = JSON.parse(stdout || '{}');
  if (verdict.valid !== true || verdict.checked !== count) throw new Error(`verify answered ${stdout}`);
  return { seconds, peakBytes };
}

function peakNow(pid: number): number {
  try {
    return residentBytes(pid);
  } catch {
    // It has just ended.
    return 0;
  }
}
