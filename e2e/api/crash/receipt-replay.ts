import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { Receipt } from '../../../daemon/contract/receipts.ts';

/** Hash of every file by its path; of a link, its target is hashed. */
export type Tree = ReadonlyMap<string, string>;

export const hashOf = (content: string | Uint8Array) =>
  `sha256:${createHash('sha256').update(content).digest('hex')}`;

/** The files of a project as they are now, without what the service keeps in it. */
export function readTree(root: string): Map<string, string> {
  const tree = new Map<string, string>();
  const walk = (folder: string) => {
    for (const name of readdirSync(join(root, folder)).sort()) {
      const path = folder === '' ? name : `${folder}/${name}`;
      if (path === '.service') continue;
      const stat = lstatSync(join(root, path));
      if (stat.isDirectory()) walk(path);
      else if (stat.isSymbolicLink()) tree.set(path, hashOf(readlinkSync(join(root, path), 'buffer')));
      else tree.set(path, hashOf(readFileSync(join(root, path))));
    }
  };
  walk('');
  return tree;
}

/**
 * The receipts of a folder in the order of the chain.
 *
 * @throws where the chain forks, has a gap, or its index has not exactly a line for each
 */
export function readChain(folder: string): Receipt[] {
  const names = readdirSync(folder).filter((name) => name.startsWith('rcpt_'));
  const receipts = names
    .sort()
    .map((name) => Receipt.parse(JSON.parse(readFileSync(join(folder, name), 'utf8'))));
  for (const [at, receipt] of receipts.entries()) {
    if (receipt.seq !== at + 1 || names[at] !== `${receipt.receipt_id}.json`)
      throw new Error(`${names[at]} holds ${receipt.receipt_id}, number ${receipt.seq}, not ${at + 1}`);
    const previous = receipts[at - 1];
    if (previous !== undefined && receipt.prev_receipt_hash !== previous.self_hash)
      throw new Error(`${receipt.receipt_id} does not follow ${previous.receipt_id}`);
  }
  const indexed = readIndex(folder);
  const ids = receipts.map(({ receipt_id }) => receipt_id);
  if (indexed.join() !== ids.join()) throw new Error(`the index has ${indexed.length} of ${ids.length}`);
  return receipts;
}

function readIndex(folder: string): string[] {
  let text = '';
  try {
    text = readFileSync(join(folder, 'INDEX.jsonl'), 'utf8');
  } catch {
    // An empty chain has none.
  }
  if (text !== '' && !text.endsWith('\n')) throw new Error('the index ends in the middle of a line');
  return text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line).receipt_id]));
}

/**
 * What becomes of a tree when one believes its receipts.
 *
 * @throws where a receipt's state from before is not what the receipts before it left
 */
export function replay(receipts: readonly Receipt[], start: Tree): Map<string, string> {
  const tree = new Map(start);
  for (const receipt of receipts) {
    for (const { path, before_hash, after_hash } of receipt.files) {
      if (path.endsWith('/')) continue;
      const known = tree.get(path) ?? 'absent';
      if (before_hash !== known)
        throw new Error(
          `${receipt.receipt_id} says ${path} was ${before_hash}, not ${known}: ${historyOf(path, receipts)}`,
        );
      if (after_hash === 'absent') tree.delete(path);
      else tree.set(path, after_hash);
    }
  }
  return tree;
}

function historyOf(path: string, receipts: readonly Receipt[]): string {
  const lines = receipts.flatMap(({ seq, tool, timestamp, command, files }) =>
    files
      .filter((file) => file.path === path)
      .map(({ before_hash, after_hash }) => {
        const exit = command === undefined ? '' : ` (exit ${command.exit_code})`;
        return `${seq} ${timestamp} ${tool}${exit} ${before_hash} → ${after_hash}`;
      }),
  );
  return lines.join('; ');
}
