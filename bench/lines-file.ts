import { createHash } from 'node:crypto';
import { closeSync, openSync, readSync, renameSync, statSync, writeSync } from 'node:fs';

export const lineBytes = 64;

export interface LinesFile {
  path: string;
  lines: number;
  bytes: number;
  /** Hex SHA-256 over the whole file. */
  sha256: string;
}

const letters = 'abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOPQRSTUVWXYZ 0123456789 .,:/()=-+_';
/** One line in ten bears one of these: what JSON must escape, terminal colours, several bytes a character. */
const specials = [
  '"quoted"',
  'C:\\temp\\a',
  '\tat f (x.ts)',
  '\u001b[32mok\u001b[0m',
  '\u001b[1;31m✗\u001b[0m "',
  'größe → 10 µm',
  '進捗 42 %',
  '🧮 sum',
];

/** The file of `lines` lines of 64 bytes, line end included; the same bytes everywhere, made only once. */
export function linesFile(path: string, lines: number): LinesFile {
  const bytes = lines * lineBytes;
  if (sizeOf(path) !== bytes) write(path, lines);
  return { path, lines, bytes, sha256: hashOf(path) };
}

function write(path: string, lines: number): void {
  const random = seededRandom(4774);
  const unfinished = `${path}.${process.pid}`;
  const file = openSync(unfinished, 'w');
  const linesPerBlock = 4096;
  for (let at = 0; at < lines; at += linesPerBlock) {
    let block = '';
    for (let line = at; line < Math.min(lines, at + linesPerBlock); line += 1)
      block += makeLine(line, random);
    writeSync(file, block);
  }
  closeSync(file);
  renameSync(unfinished, path);
}

function makeLine(number: number, random: () => number): string {
  let text = `${number} `;
  if (random() < 0.1) text += specials[Math.floor(random() * specials.length)] ?? '';
  for (let free = lineBytes - 1 - Buffer.byteLength(text); free > 0; free -= 1) {
    text += letters[Math.floor(random() * letters.length)] ?? '';
  }
  return `${text}\n`;
}

/** mulberry32: small, and the same on every machine. */
function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? -1;
}

function hashOf(path: string): string {
  const hash = createHash('sha256');
  const block = Buffer.allocUnsafe(1 << 20);
  const file = openSync(path, 'r');
  for (let read = readSync(file, block); read > 0; read = readSync(file, block))
    hash.update(block.subarray(0, read));
  closeSync(file);
  return hash.digest('hex');
}
