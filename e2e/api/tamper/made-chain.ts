import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatCheckpoint } from '../../../daemon/receipts/checkpoint-note.ts';
import { makeChain } from '../../../daemon/receipts/testing/make-chain.ts';
import type { Chain } from './tamperings.ts';

/** A chain of nine receipts from the format modules. */
export function madeChain(folder: string): Chain {
  const chain = makeChain({ folder, count: 9 });
  const lines = readFileSync(join(folder, 'INDEX.jsonl'), 'utf8').split('\n').slice(0, 7);
  const { self_hash: head }: { self_hash: string } = JSON.parse(lines.at(-1) ?? '');
  const digest = createHash('sha256')
    .update(lines.map((line) => `${line}\n`).join(''))
    .digest('hex');
  const checkpoint = { wsId: chain.wsId, count: lines.length, head, indexHash: `sha256:${digest}` };
  return { ...chain, olderCheckpoint: formatCheckpoint(checkpoint, chain.signer) };
}
