import { createHash } from 'node:crypto';
import { readAt } from './verify-range.ts';

export interface IndexHashTask {
  /** File descriptor of INDEX.jsonl. */
  readonly index: number;
  readonly indexSize: number;
  /** How many lines, from the first. */
  readonly lines: number;
}

const blockBytes = 1024 * 1024;
const lineFeed = 0x0a;

/** `sha256:…` over the first lines with their LFs, or over all where there are fewer. */
export function hashIndex({ index, indexSize, lines }: IndexHashTask): string {
  const hash = createHash('sha256');
  const block = Buffer.allocUnsafe(Math.max(1, Math.min(blockBytes, indexSize)));
  let left = lines;
  for (let position = 0; left > 0 && position < indexSize; ) {
    const length = readAt(index, block, Math.min(block.length, indexSize - position), position);
    if (length === 0) break;
    let end = 0;
    while (left > 0) {
      const found = block.subarray(0, length).indexOf(lineFeed, end);
      end = found < 0 ? length : found + 1;
      if (found < 0) break;
      left -= 1;
    }
    hash.update(block.subarray(0, end));
    position += length;
  }
  return `sha256:${hash.digest('hex')}`;
}
