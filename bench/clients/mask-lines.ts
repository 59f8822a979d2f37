import { createHash } from 'node:crypto';
import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import { PatternSet } from '../../daemon/masking/pattern-set.ts';
import { StreamMasker } from '../../daemon/masking/stream-masker.ts';

/** Masks a file in chunks of 64 KiB, by the daemon's masker or by a replacement per pattern, a few times over. */

export interface MaskLinesInput {
  variant: 'ours' | 'naive';
  file: string;
  /** Of the file, from its start. */
  bytes: number;
  /** A file with a pattern on each line. */
  patterns: string;
  passes: number;
}

export interface MaskLinesAnswer {
  /** Of each pass: reading and masking. */
  seconds: number[];
  /** What the masker was built in. */
  buildSeconds: number;
  sha256: string;
  /** After each pass. */
  residentBytes: number[];
}

const chunkBytes = 65_536;
const input: MaskLinesInput = JSON.parse(process.argv[2] ?? '{}');
const patterns = readFileSync(input.patterns, 'latin1').trimEnd().split('\n');
const started = performance.now();
const newMasker = input.variant === 'ours' ? ours() : naive();
const buildSeconds = (performance.now() - started) / 1000;
const answer: MaskLinesAnswer = { seconds: [], buildSeconds, sha256: '', residentBytes: [] };

// The first pass hashes what comes out; it is warm-up too, and not timed.
const hash = createHash('sha256');
maskFile((output) => hash.update(output));
answer.sha256 = hash.digest('hex');
for (let pass = 0; pass < input.passes; pass += 1) {
  const from = performance.now();
  maskFile(() => {});
  answer.seconds.push((performance.now() - from) / 1000);
  answer.residentBytes.push(process.memoryUsage.rss());
}
process.stdout.write(JSON.stringify(answer));

function maskFile(take: (output: Buffer) => void): void {
  const masker = newMasker();
  const file = openSync(input.file, 'r');
  for (let at = 0; at < input.bytes; at += chunkBytes) {
    const chunk = Buffer.allocUnsafe(Math.min(chunkBytes, input.bytes - at));
    readSync(file, chunk);
    take(masker.push(chunk));
  }
  take(masker.end());
  closeSync(file);
}

function ours() {
  const set = PatternSet.of(patterns.map((pattern) => Buffer.from(pattern, 'latin1')));
  return () => new StreamMasker({ patterns: set });
}

/** The chunks end with lines and no pattern has a line break, so nothing needs to be held back. */
function naive() {
  const longestFirst = patterns.toSorted((one, other) => other.length - one.length);
  const push = (chunk: Buffer) => {
    let text = chunk.toString('latin1');
    for (const pattern of longestFirst) text = text.split(pattern).join('***');
    return Buffer.from(text, 'latin1');
  };
  return () => ({ push, end: () => Buffer.alloc(0) });
}
