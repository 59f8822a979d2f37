import { CodedError } from '../contract/errors.ts';
import type { RunId } from '../contract/ids.ts';
import type { Receipt, RollbackConflict, RollbackPlan, TouchedFile } from '../contract/receipts.ts';
import { fromBytePath, toBytePath } from '../lib/byte-path.ts';
import { PathChangedError } from '../lib/confined-folder.ts';
import { hashContent } from '../lib/content-hash.ts';
import type { Expected } from '../lib/entry-stat.ts';
import { lineDiff } from '../lib/line-diff.ts';
import { type FoundEntry, readEntry } from '../lib/read-entry.ts';
import type { EntryState, SnapshotRecord } from '../snapshots/entry-state.ts';
import type { Step } from './mutation-plan.ts';

/** Where a rollback finds what it needs. */
export interface RollbackSource {
  readonly root: string;
  /** The run's receipts, oldest first. @throws CodedError unknown_run */
  receipts(runId: RunId): Promise<Receipt[]>;
  snapshot(snapshotId: string): Promise<SnapshotRecord | null>;
  content(oid: string): Promise<Buffer | null>;
  readonly replacement: Replacement;
}

/**
 * What is to be written where a file of the service held this once, or was not there (null): encrypted files are sealed
 * anew. Null where that can't be done any more; undefined for a file that is simply put back.
 */
export type Replacement = (path: string, content: Buffer | null) => Promise<Buffer | null | undefined>;

export interface PlannedRollback {
  readonly plan: RollbackPlan;
  readonly steps: readonly Step[];
}

/** What one path is to become, and what it is. */
interface Target {
  readonly path: string;
  readonly current: FoundEntry | null;
  wanted: Wanted;
}

type Wanted = EntryState | null;

/**
 * What it takes to undo a run: every path that it touched is put back to what it was before, from the newest receipt to the
 * oldest. A path that is no longer what the run left behind is a conflict; with `force` it is put back all the same.
 *
 * @throws CodedError unknown_run
 */
export async function planRollback(
  source: RollbackSource,
  runId: RunId,
  { force }: { readonly force: boolean },
): Promise<PlannedRollback> {
  const conflicts: RollbackConflict[] = [];
  const targets = new Map<string, Target>();
  for (const receipt of (await source.receipts(runId)).toReversed())
    await collect(source, receipt, { targets, conflicts, force });
  const blocked = new Set(
    conflicts.filter(({ reason }) => reason !== 'changed_since').map(({ path }) => path),
  );
  const planned = await Promise.all(
    [...targets.values()]
      .filter(({ path }) => !blocked.has(fromBytePath(path).path))
      .map((target) => planTarget(source, target, conflicts)),
  );
  return {
    plan: { run_id: runId, files: planned.map(({ file }) => file), conflicts },
    steps: inOrder(planned.flatMap(({ step }) => (step === null ? [] : [step]))),
  };
}

async function collect(
  source: RollbackSource,
  receipt: Receipt,
  {
    targets,
    conflicts,
    force,
  }: { targets: Map<string, Target>; conflicts: RollbackConflict[]; force: boolean },
): Promise<void> {
  const snapshot = await source.snapshot(receipt.snapshot_id);
  for (const [at, file] of [...receipt.files.entries()].toReversed()) {
    const path = bytePathOf(file);
    const target = targets.get(path) ?? newTarget(source.root, path);
    const before = stateBefore(file, snapshot?.entries[at]);
    if (before === 'pruned') {
      conflicts.push(
        conflict(
          path,
          'snapshot_pruned',
          'What it was is not kept any more: newer snapshots have taken its place.',
        ),
      );
      continue;
    }
    const isAfter = isState(target.wanted, file.after_hash, file.after_mode);
    const isBefore = isState(target.wanted, file.before_hash, file.before_mode);
    if (!isAfter && !isBefore) {
      conflicts.push(conflict(path, 'changed_since', 'It has been changed since this run.'));
      if (!force) continue;
    }
    targets.set(path, Object.assign(target, { wanted: before }));
  }
}

function newTarget(root: string, path: string): Target {
  const current = entryAt(root, path);
  return { path, current, wanted: current?.state ?? null };
}

function entryAt(root: string, path: string): FoundEntry | null {
  try {
    return readEntry(root, path);
  } catch (error) {
    // A link stands where a folder of the path was: at this path there is nothing of the workspace's.
    if (error instanceof PathChangedError) return null;
    throw error;
  }
}

/** A file that was not there before needs no snapshot to be removed again. */
function stateBefore(
  { before_mode }: TouchedFile,
  kept: SnapshotRecord['entries'][number] | undefined,
): Wanted | 'pruned' {
  if (before_mode === 'absent') return null;
  return kept === undefined ? 'pruned' : kept.state;
}

async function planTarget(
  source: RollbackSource,
  { path, current, wanted }: Target,
  conflicts: RollbackConflict[],
): Promise<{ file: RollbackPlan['files'][number]; step: Step | null }> {
  const name = fromBytePath(path).path;
  const unchanged = { file: { path: name, step: 'unchanged', added: 0, removed: 0 } as const, step: null };
  const state = current?.state ?? null;
  if (isState(state, wanted?.hash ?? 'absent', wanted?.mode ?? 'absent')) return unchanged;
  const expect: Expected = current?.stat ?? 'absent';
  const write = (after: EntryState, content: Buffer) => ({
    file: {
      path: name,
      step: current === null ? ('create' as const) : ('restore' as const),
      ...lines(current?.bytes ?? null, content),
    },
    step: {
      kind: 'write' as const,
      path,
      before: state,
      beforeBytes: current?.bytes ?? null,
      after,
      content,
      expect,
    },
  });
  if (wanted === null) {
    if (current === null || state === null) return unchanged;
    const replacement = await source.replacement(path, null);
    if (replacement) return write(fileOf(replacement), replacement);
    const step = {
      kind: 'remove',
      path,
      before: state,
      beforeBytes: current.bytes,
      expect,
      pruneParents: true,
    } as const;
    return { file: { path: name, step: 'delete', ...lines(current.bytes, null) }, step };
  }
  if (wanted.mode === '040000')
    return { file: { path: name, step: 'create', added: 0, removed: 0 }, step: { kind: 'folder', path } };
  const content = wanted.oid === null ? null : await source.content(wanted.oid);
  if (content === null) {
    const reason = wanted.oid === null ? 'not_kept' : 'snapshot_pruned';
    const detail =
      wanted.oid === null
        ? 'It was over 10 MiB: contents of that size are not kept.'
        : 'What it was is not kept any more: newer snapshots have taken its place.';
    conflicts.push(conflict(path, reason, detail));
    return unchanged;
  }
  const replacement = await source.replacement(path, content);
  if (replacement === null) {
    conflicts.push(conflict(path, 'not_kept', 'It was encrypted with a key that is not there any more.'));
    return unchanged;
  }
  return replacement === undefined ? write(wanted, content) : write(fileOf(replacement), replacement);
}

function fileOf(content: Buffer): EntryState {
  return { mode: '100644', size: content.length, ...hashContent(content) };
}

/** What is in the way goes first, innermost first; empty folders come last, as a file may need their place gone. */
function inOrder(steps: readonly Step[]): Step[] {
  const of = (kind: Step['kind']) => steps.filter((step) => step.kind === kind);
  const depth = (step: Step) => (step.kind === 'rename' ? 0 : step.path.split('/').length);
  return [...of('remove').sort((a, b) => depth(b) - depth(a)), ...of('write'), ...of('folder')];
}

function lines(before: Buffer | null, after: Buffer | null): { added: number; removed: number } {
  let added = 0;
  let removed = 0;
  for (const hunk of lineDiff(before, after).hunks)
    for (const line of hunk.lines) {
      if (line.startsWith('+')) added += 1;
      else if (line.startsWith('-')) removed += 1;
    }
  return { added, removed };
}

function isState(state: EntryState | null, hash: string, mode: string): boolean {
  return (state?.hash ?? 'absent') === hash && (state?.mode ?? 'absent') === mode;
}

function bytePathOf({ path, path_base64 }: TouchedFile): string {
  return path_base64 === undefined ? toBytePath(path) : Buffer.from(path_base64, 'base64').toString('latin1');
}

function conflict(path: string, reason: RollbackConflict['reason'], detail: string): RollbackConflict {
  return { path: fromBytePath(path).path, reason, detail };
}

/** @throws CodedError rollback_conflict */
export function refuseConflicts({ conflicts }: RollbackPlan): void {
  if (conflicts.length === 0) return;
  throw new CodedError(
    'rollback_conflict',
    `${conflicts.length === 1 ? '1 file' : `${conflicts.length} files`} can't simply be put back; nothing was changed.`,
    { members: { conflicts } },
  );
}
