import type { FileDiff } from '../contract/receipts.ts';
import { fromBytePath } from '../lib/byte-path.ts';
import { lineDiff } from '../lib/line-diff.ts';
import { fromHex } from './blob.ts';
import type { EntryState, TreeChange } from './entry-state.ts';
import type { ObjectStore } from './object-store.ts';

/** Once the diffs of one run have more text than this, the rest is left out. */
const maxRunDiffBytes = 8 * 1024 * 1024;

/** The diffs of the changes that are changes of content; what is not kept can not be compared. */
export function diffsOf(changes: readonly TreeChange[], store: ObjectStore): FileDiff[] {
  const diffs: FileDiff[] = [];
  let bytes = 0;
  for (const { path, before, after } of changes) {
    if (!hasContent(before) && !hasContent(after)) continue;
    if (before?.hash === after?.hash) continue;
    const diff: FileDiff = { path: fromBytePath(path).path, ...diffOf(before, after, bytes, store) };
    for (const { lines } of diff.hunks) for (const line of lines) bytes += line.length;
    diffs.push(diff);
  }
  return diffs;
}

function diffOf(before: EntryState | null, after: EntryState | null, bytes: number, store: ObjectStore) {
  if (bytes > maxRunDiffBytes) return leftOut;
  const old = contentOf(before, store);
  const now = contentOf(after, store);
  return old === undefined || now === undefined ? leftOut : lineDiff(old, now);
}

const leftOut = { hunks: [], truncated: true } satisfies Omit<FileDiff, 'path'>;

function hasContent(state: EntryState | null): state is EntryState {
  return state !== null && state.mode !== '040000';
}

/** Null: there is none. Undefined: there is, but it is not at hand. */
function contentOf(state: EntryState | null, store: ObjectStore): Buffer | null | undefined {
  if (!hasContent(state)) return null;
  if (state.oid === null) return undefined;
  try {
    return store.read(fromHex(state.oid)) ?? undefined;
  } catch {
    // A damaged object costs this diff, not the receipt: the hashes are known.
    return undefined;
  }
}
