import { execFileSync } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { describeMachine } from './machine.ts';
import { type Options, readOptions, usage } from './options.ts';
import { printMachine, printRow, printVerdict } from './report.ts';
import type { Row, RowResult } from './row.ts';
import { fernet } from './rows/fernet.ts';
import { firstFrame } from './rows/first-frame.ts';
import { firstLoad } from './rows/first-load.ts';
import { flood } from './rows/flood.ts';
import { keyedGet } from './rows/keyed-get.ts';
import { masking } from './rows/masking.ts';
import { mutation } from './rows/mutation.ts';
import { shellReceipt } from './rows/shell-receipt.ts';
import { sshPull } from './rows/ssh-pull.ts';
import { sshRun } from './rows/ssh-run.ts';
import { sshStream } from './rows/ssh-stream.ts';
import { start } from './rows/start.ts';
import { stream } from './rows/stream.ts';
import { streamSecrets } from './rows/stream-secrets.ts';
import { verifyChain } from './rows/verify-chain.ts';
import { runRows } from './run-rows.ts';

/**
 * Measures the daemon against peers on this machine. A target that is missed is printed and changes nothing;
 * the exit status is 1 when a row could not be measured, 2 when the command line is wrong.
 */
const allRows: readonly Row[] = [
  stream,
  firstFrame,
  keyedGet,
  flood,
  start,
  mutation,
  shellReceipt,
  firstLoad,
  verifyChain,
  fernet,
  masking,
  streamSecrets,
  sshRun,
  sshStream,
  sshPull,
];
const root = resolve(import.meta.dirname, '..');

const options = optionsOrExit();
const tempDir = realpathSync(mkdtempSync(join(tmpdir(), 'tallystick-bench-')));
process.on('exit', () => rmSync(tempDir, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130));
process.exitCode = await main(options);

async function main({ rows, quick, json, profile, daemon }: Options): Promise<number> {
  const say = (text: string) => (json ? process.stderr : process.stdout).write(`${text}\n`);
  const entry = daemon === undefined ? build() : resolve(daemon);
  const machine = describeMachine(root);
  say(`${printMachine(machine)}\n`);
  const results: RowResult[] = [];
  const failed: string[] = [];
  const cacheDir = join(root, 'node_modules', '.cache', 'tallystick-bench');
  const chosen = allRows.filter(({ name }) => rows.includes(name));
  for await (const outcome of runRows({ rows: chosen, entry, quick, profile, cacheDir, tempDir, progress })) {
    progress('');
    if ('error' in outcome) {
      failed.push(outcome.row);
      process.stderr.write(`${outcome.row} could not be measured: ${withCauses(outcome.error)}\n\n`);
    } else {
      results.push(outcome.result);
      say([printRow(outcome.result), ...outcome.profile.map((line) => `  ${line}`), ''].join('\n'));
    }
  }
  if (results.length > 0) say(printVerdict(results));
  if (profile) say('the daemon ran under the profiler: the figures are not results');
  if (failed.length > 0) say(`could not be measured: ${failed.join(', ')}`);
  if (json) process.stdout.write(`${JSON.stringify({ machine, results, failed }, null, 2)}\n`);
  return failed.length > 0 ? 1 : 0;
}

function optionsOrExit(): Options {
  try {
    return readOptions(
      process.argv.slice(2),
      allRows.map(({ name }) => name),
    );
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n${usage}\n`);
    process.exit(2);
  }
}

function build(): string {
  execFileSync(process.execPath, [join(root, 'scripts', 'build.ts')], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return join(root, 'dist', 'daemon', 'tallystick.js');
}

/** One line of a terminal, written over; nothing where stderr is no terminal. */
function progress(message: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${message}`);
}

function withCauses(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined
    ? String(error.stack)
    : `${error.stack}\n  cause: ${withCauses(error.cause)}`;
}
