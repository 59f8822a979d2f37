import { spawnSync } from 'node:child_process';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { formsOf } from '../../daemon/masking/secret-forms.ts';
import { seededRandom } from '../../daemon/masking/testing/seeded-random.ts';
import type { MaskLinesAnswer, MaskLinesInput } from '../clients/mask-lines.ts';
import { lineBytes, linesFile } from '../lines-file.ts';
import { type Bench, figure, type Row, type RowResult, ratioTarget, target } from '../row.ts';
import { runClient, runProgram } from '../run-program.ts';
import { quantile, shuffled } from '../statistics.ts';

/** 100 secrets in all forms masked in 64 MB of output, beside a replacement per pattern and ripgrep, which only finds. */
export const masking: Row = { name: 'masking', run };

const secrets = 100;
const lines = 1_048_576;
const bytes = lines * lineBytes;
/** A replacement per pattern takes half a minute for all of it. */
const naiveBytes = bytes / 16;
const megabytes = (count: number) => count / 1e6;
const timeoutMs = 120_000;
const linesPerSecret = 1000;

async function run(bench: Bench): Promise<RowResult> {
  if (spawnSync('rg', ['--version']).error !== undefined) throw new Error('ripgrep (rg) is not there');
  const rounds = bench.quick ? 3 : 7;
  const { file, patterns, count } = madeInput(bench.cacheDir);
  const rates = { ours: [] as number[], naive: [] as number[], rg: [] as number[] };
  const build: number[] = [];
  const growth: number[] = [];
  const mask = (variant: MaskLinesInput['variant'], size: number, passes: number) => {
    const input: MaskLinesInput = { variant, file, bytes: size, patterns, passes };
    return runClient<MaskLinesAnswer>(bench.program('mask-lines'), input, timeoutMs);
  };
  bench.progress('comparing outputs');
  const [part, wanted] = [await mask('ours', naiveBytes, 0), await mask('naive', naiveBytes, 0)];
  if (part.sha256 !== wanted.sha256) throw new Error('the masker and a replacement per pattern differ');
  for (let round = 1; round <= rounds; round += 1) {
    bench.progress(`round ${round} of ${rounds}`);
    for (const name of shuffled(['ours', 'naive', 'rg'] as const)) {
      if (name === 'rg') {
        rates.rg.push(megabytes(bytes) / (await findWithRipgrep(file, patterns)));
        continue;
      }
      const size = name === 'ours' ? bytes : naiveBytes;
      const answer = await mask(name, size, name === 'ours' ? 8 : 1);
      rates[name].push(megabytes(size) / quantile(answer.seconds, 0.5));
      if (name !== 'ours') continue;
      build.push(answer.buildSeconds * 1000);
      growth.push(((answer.residentBytes.at(-1) ?? 0) - (answer.residentBytes[0] ?? 0)) / 2 ** 20);
    }
  }
  const grown = figure('memory after 512 MB over after 64 MB', 'MiB', growth);
  return {
    row: 'masking',
    title: `${secrets} secrets, ${count.toLocaleString('en')} patterns, 64 MB in chunks of 64 KiB, ${rounds} rounds`,
    figures: [
      figure('masked', 'MB/s', rates.ours),
      figure('replaced pattern by pattern', 'MB/s', rates.naive),
      figure('rg -F -f, found only', 'MB/s', rates.rg),
      figure('building the patterns', 'ms', build),
      grown,
    ],
    targets: [
      ratioTarget('masked / replaced, MB/s', rates.ours, rates.naive, 'at least', 6),
      ratioTarget('masked / found by rg, MB/s', rates.ours, rates.rg, 'at least', 1),
      target(grown.name, 'MiB', grown.median, 'at most', 8),
    ],
    notes: [
      'masked: the median of 8 passes in a process, reading included; rg: the whole process; each reads from memory',
      'the masker’s output was the same as that of a replacement per pattern',
    ],
  };
}

/** Lines with a secret in some form in one of a thousand, and the patterns; the same bytes on every machine. */
function madeInput(cacheDir: string) {
  const random = seededRandom(100);
  const forms = Array.from({ length: secrets }, (_, at) => formsOf(randomSecret(random, at))).flat();
  const patterns = [...new Set(forms.map((form) => form.toString('latin1')))];
  if (patterns.some((pattern) => pattern.includes('\n'))) throw new Error('a pattern has a line break');
  const patternFile = join(cacheDir, 'masking-patterns.txt');
  writeFileSync(patternFile, `${patterns.join('\n')}\n`, 'latin1');
  const file = join(cacheDir, 'masking-lines.txt');
  const text = readFileSync(linesFile(join(cacheDir, `lines-${lines}x${lineBytes}.txt`), lines).path);
  const short = patterns.filter(({ length }) => length < lineBytes - 2);
  for (let line = 0; line < lines; line += linesPerSecret) {
    const form = short[(line / linesPerSecret) % short.length] ?? '';
    text.write(` ${form} `.slice(0, lineBytes - 1), line * lineBytes, 'latin1');
  }
  writeFileSync(file, text);
  if (statSync(file).size !== bytes) throw new Error('the text has another size');
  return { file, patterns: patternFile, count: patterns.length };
}

/** Of 6 to 29 characters, most of them of letters and digits, as passwords and tokens are. */
function randomSecret(random: () => number, at: number): string {
  const letters = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';
  const alphabet = at % 8 === 0 ? letters : `${letters}!"#$%&'()*+,-./:;<=>?@[\\]^_{|}~`;
  const length = 6 + ((at * 7) % 24);
  return Array.from({ length }, () => alphabet[Math.floor(random() * alphabet.length)]).join('');
}

async function findWithRipgrep(file: string, patterns: string): Promise<number> {
  const args = ['--no-config', '-c', '-F', '-a', '-f', patterns, file];
  const { stdout, seconds } = await runProgram('rg', args, timeoutMs);
  if (Number(stdout) < lines / linesPerSecret) throw new Error(`rg found ${stdout} lines`);
  return seconds;
}
