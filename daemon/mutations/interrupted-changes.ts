import type { FileDiff, TouchedFile } from '../contract/receipts.ts';
import { fromBytePath, toBytePath } from '../lib/byte-path.ts';
import type { EntryState, TreeChange } from '../snapshots/entry-state.ts';
import type { RunChanges } from '../snapshots/tree-calls.ts';
import type { Committed } from './committer.ts';

type Found = Pick<RunChanges, 'changes' | 'diffs'>;

/**
 * What a command changed that died with its daemon: all that differs from the baseline it left, without what has a receipt
 * already. The daemon may have died before its baseline knew of those changes; then they are found once more.
 *
 * @param committed what the journal holds, oldest first
 */
export function withoutCommitted({ changes, diffs }: Found, committed: readonly Committed[]): Found {
  const known = Map.groupBy(committed.flatMap(changesOf), ({ path }) => path);
  const left = changes.flatMap((change) => remainder(change, known.get(change.path) ?? []));
  const whole = new Set(left.filter((change) => changes.includes(change)).map(({ path }) => textOf(path)));
  const cut = left.filter((change) => !changes.includes(change));
  return {
    changes: left,
    diffs: [
      ...diffs.filter(({ path }) => whole.has(path)),
      ...cut.map(({ path }): FileDiff => ({ path: textOf(path), hunks: [], truncated: true })),
    ],
  };
}

/** Where both have changed a path, the end of it tells who came last. */
function remainder(change: TreeChange, known: readonly TreeChange[]): TreeChange[] {
  const { path, before, after } = change;
  const news = known.slice(known.findLastIndex((one) => isSame(one.after, before)) + 1);
  const first = news[0];
  const last = news.at(-1);
  if (first === undefined || last === undefined) return [change];
  if (isSame(first.before, before))
    return isSame(last.after, after) ? [] : [{ path, before: last.after, after }];
  return isSame(last.after, after) ? [{ path, before, after: first.before }] : [change];
}

const isSame = (a: EntryState | null, b: EntryState | null) => a?.hash === b?.hash && a?.mode === b?.mode;
const textOf = (path: string) => fromBytePath(path).path;

/** Of a command the receipt alone is in the journal. */
function changesOf({ receipt, draft }: Committed): readonly TreeChange[] {
  if (draft.steps.length > 0) return draft.parts.changes;
  return receipt.files.map((file) => ({
    path: file.path_base64 === undefined ? toBytePath(file.path) : atob(file.path_base64),
    before: stateOf(file.before_mode, file.before_hash),
    after: stateOf(file.after_mode, file.after_hash),
  }));
}

function stateOf(mode: TouchedFile['after_mode'], hash: string): EntryState | null {
  return mode === 'absent' ? null : { mode, hash, size: 0, oid: null };
}
