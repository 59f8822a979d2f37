import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import type { Receipt } from '../contract/receipts.ts';
import type { EntryState, TreeChange } from '../snapshots/entry-state.ts';
import type { Committed } from './committer.ts';
import { withoutCommitted } from './interrupted-changes.ts';
import type { Step } from './mutation-plan.ts';
import type { Draft } from './receipt-draft.ts';

const state = (content: string): EntryState => ({
  mode: '100644',
  hash: `sha256:${createHash('sha256').update(content).digest('hex')}`,
  size: content.length,
  oid: 'a'.repeat(40),
});

/** `change('f', 'A', 'B')`; null for no file. */
const change = (path: string, before: string | null, after: string | null): TreeChange => ({
  path,
  before: before === null ? null : state(before),
  after: after === null ? null : state(after),
});

const step: Step = { kind: 'folder', path: 'any/' };

/** What the door has written. */
const written = (...changes: TreeChange[]) =>
  ({ draft: { steps: [step], parts: { changes } } as unknown as Draft, receipt: {} }) as Committed;

/** What a command has changed that was receipted before. */
const commanded = (...changes: TreeChange[]) =>
  ({
    draft: { steps: [] as readonly Step[] },
    receipt: {
      files: changes.map(({ path, before, after }) => ({
        path,
        before_hash: before?.hash ?? 'absent',
        after_hash: after?.hash ?? 'absent',
        before_mode: before?.mode ?? 'absent',
        after_mode: after?.mode ?? 'absent',
      })),
    } as Receipt,
  }) as Committed;

const left = (found: TreeChange[], ...committed: Committed[]) =>
  withoutCommitted({ changes: found, diffs: [] }, committed).changes;

test('a change that has a receipt is not the command’s as well', () => {
  const made = change('made', null, 'A');
  const own = change('own', 'X', 'Y');
  expect(left([made, own], written(made))).toEqual([own]);
  expect(
    left([change('f', 'A', 'C')], written(change('f', 'A', 'B')), written(change('f', 'B', 'C'))),
  ).toEqual([]);
});

test('of receipts that the baseline knew of nothing is taken away', () => {
  const own = change('f', 'C', 'D');
  expect(left([own], written(change('f', 'A', 'B')), written(change('f', 'B', 'C')))).toEqual([own]);
  expect(left([own], written(change('f', 'A', 'B')), commanded(change('f', 'B', 'C')))).toEqual([own]);
});

test('what a command changed before or after the door wrote the same file stays the command’s', () => {
  const door = written(change('f', 'B', 'C'));
  expect(left([change('f', 'B', 'D')], door)).toEqual([change('f', 'C', 'D')]);
  expect(left([change('f', 'A', 'C')], door)).toEqual([change('f', 'A', 'B')]);
  expect(left([change('f', 'A', 'D')], door)).toEqual([change('f', 'A', 'D')]);
});

test('a diff is kept where all of the change is the command’s, and left out where only a part is', () => {
  const hunks = [{ old_start: 1, old_lines: 1, new_start: 1, new_lines: 1, lines: ['-X', '+Y'] }];
  const found = [change('own', 'X', 'Y'), change('made', null, 'A'), change('both', 'B', 'D')];
  const { diffs } = withoutCommitted({ changes: found, diffs: found.map(({ path }) => ({ path, hunks })) }, [
    written(change('made', null, 'A'), change('both', 'B', 'C')),
  ]);
  expect(diffs).toEqual([
    { path: 'own', hunks },
    { path: 'both', hunks: [], truncated: true },
  ]);
});
