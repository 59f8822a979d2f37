import type { FileDiff, TouchedFile } from '../contract/receipts.ts';
import { fromBytePath } from '../lib/byte-path.ts';
import { type LineDiff, lineDiff } from '../lib/line-diff.ts';
import type { EntryState, SnapshotRecord, TreeChange } from '../snapshots/entry-state.ts';
import type { Step } from './mutation-plan.ts';

/** What a change of the tree puts into its receipt, its snapshot and the object store. */
export interface ReceiptParts {
  readonly files: TouchedFile[];
  readonly diffs: FileDiff[];
  readonly changes: readonly TreeChange[];
  readonly entries: SnapshotRecord['entries'];
  readonly contents: readonly StoredContent[];
}

export interface StoredContent {
  readonly oid: string;
  readonly bytes: Buffer;
}

interface ContentChange extends TreeChange {
  readonly beforeBytes: Buffer | null;
  readonly afterBytes: Buffer | null;
}

/** Of steps that are about to be taken. */
export function partsOfSteps(steps: readonly Step[]): ReceiptParts {
  const changes = steps.flatMap(changesOf);
  return {
    ...partsOfChanges(changes, steps.flatMap(diffsOf)),
    contents: changes.flatMap((change) => [
      ...contentOf(change.before, change.beforeBytes),
      ...contentOf(change.after, change.afterBytes),
    ]),
  };
}

/** Of changes that a command has made; their contents are kept already. */
export function partsOfChanges(changes: readonly TreeChange[], diffs: readonly FileDiff[]): ReceiptParts {
  return {
    files: changes.map(touchedFile),
    diffs: [...diffs],
    changes: changes.map(({ path, before, after }) => ({ path, before, after })),
    entries: changes.map(({ path, before }) => ({ path, state: before })),
    contents: [],
  };
}

function changesOf(step: Step): ContentChange[] {
  switch (step.kind) {
    case 'write': {
      const { path, before, beforeBytes, after, content } = step;
      return [{ path, before, beforeBytes, after, afterBytes: content }];
    }
    case 'remove': {
      const { path, before, beforeBytes } = step;
      return [{ path, before, beforeBytes, after: null, afterBytes: null }];
    }
    case 'folder':
      return [{ path: step.path, before: null, beforeBytes: null, after: emptyFolder, afterBytes: null }];
    case 'rename': {
      const replaced = step.replaced ?? { state: null, bytes: null };
      return step.moved.flatMap(({ from, to, state, bytes }) => [
        { path: from, before: state, beforeBytes: bytes, after: null, afterBytes: null },
        { path: to, before: replaced.state, beforeBytes: replaced.bytes, after: state, afterBytes: bytes },
      ]);
    }
  }
}

export const emptyFolder: EntryState = { mode: '040000', hash: 'absent', size: 0, oid: null };

function touchedFile({ path, before, after }: TreeChange): TouchedFile {
  const name = fromBytePath(path);
  return {
    path: name.path,
    ...(name.base64 === undefined ? {} : { path_base64: name.base64 }),
    before_hash: before?.hash ?? 'absent',
    after_hash: after?.hash ?? 'absent',
    before_mode: before?.mode ?? 'absent',
    after_mode: after?.mode ?? 'absent',
    ...(before !== null && before.oid === null && before.mode !== '040000' ? { not_kept: true } : {}),
  };
}

/** What is moved along has none: its content stays the same. */
function diffsOf(step: Step): FileDiff[] {
  switch (step.kind) {
    case 'write':
      return diffOf(step.path, step.before, step.beforeBytes, step.after, step.content);
    case 'remove':
      return diffOf(step.path, step.before, step.beforeBytes, null, null);
    case 'folder':
      return [];
    case 'rename': {
      const [moved] = step.moved;
      if (step.replaced === null || moved === undefined) return [];
      return diffOf(step.to, step.replaced.state, step.replaced.bytes, moved.state, moved.bytes);
    }
  }
}

function diffOf(
  path: string,
  before: EntryState | null,
  beforeBytes: Buffer | null,
  after: EntryState | null,
  afterBytes: Buffer | null,
): FileDiff[] {
  if (before?.hash === after?.hash || before?.mode === '040000' || after?.mode === '040000') return [];
  // What the service keeps there is encrypted: its lines say nothing.
  if (path.startsWith('.service/')) return [];
  const known = (before === null || beforeBytes !== null) && (after === null || afterBytes !== null);
  const diff: LineDiff = known ? lineDiff(beforeBytes, afterBytes) : { hunks: [], truncated: true };
  return [{ path: fromBytePath(path).path, ...diff }];
}

function contentOf(state: EntryState | null, bytes: Buffer | null): StoredContent[] {
  return state === null || state.oid === null || bytes === null ? [] : [{ oid: state.oid, bytes }];
}
