import { opendir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { type ReceiptCatalog, seqOfId } from './receipt-catalog.ts';
import { tempNameForm } from './store.ts';

export interface FolderSurvey {
  /** Temporary files of a write that a crash cut off; they are removed. */
  readonly removedTemps: number;
  /** Ids by position of the receipt files that are past the end of the index. */
  readonly beyond: ReadonlyMap<number, readonly string[]>;
  /** Receipts of the index that have no file. */
  readonly missing: { readonly count: number; readonly first: string } | null;
}

/** More names than this past the end are no crash's doing; the rest of them is left to verification. */
const maxBeyond = 1_000_000;

/** Goes over the names in the folder once, a few hundred at a time, so that requests are answered in between. */
export async function surveyFolder(folder: string, catalog: ReceiptCatalog): Promise<FolderSurvey> {
  const present = new Uint8Array(catalog.count);
  const beyond = new Map<number, string[]>();
  const temps: string[] = [];
  for await (const { name } of await opendir(folder, { bufferSize: 256 })) {
    if (tempNameForm.test(name)) temps.push(name);
    const receiptId = name.endsWith('.json') ? name.slice(0, -'.json'.length) : '';
    const row = catalog.rowOf(receiptId);
    if (row !== undefined) present[row] = 1;
    else noteBeyond(beyond, receiptId, catalog.count);
  }
  for (const name of temps) await unlink(join(folder, name));
  return { removedTemps: temps.length, beyond, missing: missingOf(present, catalog) };
}

function noteBeyond(beyond: Map<number, string[]>, receiptId: string, count: number): void {
  const seq = seqOfId(receiptId) ?? 0;
  if (seq <= count || beyond.size >= maxBeyond) return;
  const ids = beyond.get(seq);
  if (ids === undefined) beyond.set(seq, [receiptId]);
  else ids.push(receiptId);
}

function missingOf(present: Uint8Array, catalog: ReceiptCatalog): FolderSurvey['missing'] {
  let count = 0;
  let first: string | null = null;
  for (const [row, seen] of present.entries()) {
    const receiptId = seen === 1 ? null : catalog.idAt(row);
    if (receiptId === null) continue;
    count += 1;
    first ??= receiptId;
  }
  return first === null ? null : { count, first };
}
