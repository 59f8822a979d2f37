import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type RunId, UserId, WorkspaceId } from '../contract/ids.ts';
import type { Receipt } from '../contract/receipts.ts';
import { newId } from '../lib/ids.ts';
import { tempFolder } from '../lib/testing/temp-folder.ts';
import { genesisHash, receiptIdOf, sealReceipt } from '../receipts/receipt-format.ts';
import { Journal, type JournalEntry, voidLeftEntry } from './journal.ts';
import type { Step } from './mutation-plan.ts';
import { newRunId } from './receipt-draft.ts';
import { partsOfSteps } from './receipt-parts.ts';
import { recoverMutations } from './recovery.ts';
import { redoSteps } from './redo-steps.ts';
import { actor, writeStep } from './testing/real-door.ts';

const wsId = WorkspaceId.parse(newId('ws'));

/** A journal that a daemon left behind, and the project at the moment it died. */
async function crashed() {
  const base = await tempFolder();
  const project = join(base.path, 'project');
  const intents = join(base.path, 'intents');
  mkdirSync(project);
  const receipts: Receipt[] = [];
  const entry = (steps: Step[]): JournalEntry & { type: 'mutation' } => {
    const seq = receipts.length + 1;
    const parts = partsOfSteps(steps);
    const { receipt } = sealReceipt({
      receipt_id: receiptIdOf(seq, 0),
      seq,
      timestamp: new Date(0).toISOString(),
      user_id: UserId.parse(newId('u')),
      workspace_id: wsId,
      run_id: newRunId(),
      action: 'apply',
      tool: 'file.write',
      actor,
      files: parts.files,
      diffs: parts.diffs,
      snapshot_id: newId('snap') as Receipt['snapshot_id'],
      symbols_checked: 0,
      guards: { write: 'pass', hallucination: 'skipped', egress: 'skipped' },
      cost: { usd: 0, tokens_in: 0, tokens_out: 0 },
      models: [],
      prev_receipt_hash: receipts.at(-1)?.self_hash ?? genesisHash(wsId),
    });
    receipts.push(receipt);
    const { snapshot_id, run_id } = receipt;
    return {
      type: 'mutation',
      receipt,
      steps,
      snapshot: { snapshot_id, run_id, seq, entries: parts.entries },
    };
  };
  return {
    project,
    receipts,
    at: (path: string) => join(project, path),
    entry,
    leave(entries: readonly JournalEntry[]) {
      const { journal } = Journal.open(intents);
      journal.append(entries);
      journal.close({ done: false });
    },
    recover: (written: readonly Receipt[] = []) =>
      recoverMutations({
        left: Journal.open(intents).left,
        hasReceipt: (id) => written.some(({ receipt_id }) => receipt_id === id),
        redo: (steps) => redoSteps(project, steps),
        voidEntry: voidLeftEntry,
      }),
    stillLeft: () => Journal.open(intents).left.length,
    [Symbol.asyncDispose]: () => base[Symbol.asyncDispose](),
  };
}

test('a change that was not made yet is made', async () => {
  await using it = await crashed();
  it.leave([it.entry([writeStep(it.project, 'new/a.txt', 'a\n')])]);
  const { committed, repairs } = it.recover();
  expect(readFileSync(it.at('new/a.txt'), 'utf8')).toBe('a\n');
  expect(committed.map(({ receipt }) => receipt)).toEqual(it.receipts);
  expect(repairs).toEqual([
    `The change of ${it.receipts[0]?.receipt_id} was cut short, and has been finished.`,
  ]);
});

test('a change whose receipt is there is not made again, whatever has become of the file', async () => {
  await using it = await crashed();
  it.leave([it.entry([writeStep(it.project, 'a.txt', 'a\n')])]);
  const { committed, repairs } = it.recover(it.receipts);
  expect(existsSync(it.at('a.txt'))).toBe(false);
  expect(committed).toHaveLength(1);
  expect(repairs).toEqual([]);
});

test('a file that somebody has changed since is left as it is', async () => {
  await using it = await crashed();
  writeFileSync(it.at('a.txt'), 'before\n');
  it.leave([it.entry([writeStep(it.project, 'a.txt', 'after\n')])]);
  writeFileSync(it.at('a.txt'), 'edited since\n');
  expect(it.recover().committed).toHaveLength(1);
  expect(readFileSync(it.at('a.txt'), 'utf8')).toBe('edited since\n');
});

test('of several steps, those that were not taken are; a second recovery has nothing left to do', async () => {
  await using it = await crashed();
  const steps = [writeStep(it.project, 'a.txt', 'a\n'), writeStep(it.project, 'b.txt', 'b\n')];
  it.leave([it.entry(steps)]);
  writeFileSync(it.at('a.txt'), 'a\n');
  it.recover();
  expect(readFileSync(it.at('b.txt'), 'utf8')).toBe('b\n');
  rmSync(it.at('b.txt'));
  expect(it.recover(it.receipts).repairs).toEqual([]);
  expect(existsSync(it.at('b.txt'))).toBe(false);
});

test('a change that can no longer be made is dropped for good, with those behind it in the chain', async () => {
  await using it = await crashed();
  const entries = ['a.txt', 'folder/b.txt', 'c.txt'].map((path) =>
    it.entry([writeStep(it.project, path, path)]),
  );
  it.leave(entries);
  writeFileSync(it.at('folder'), 'a file has taken its place');
  const { committed, repairs } = it.recover();
  expect(committed.map(({ receipt }) => receipt.seq)).toEqual([1]);
  expect(repairs).toHaveLength(3);
  expect(existsSync(it.at('c.txt'))).toBe(false);
  expect(it.stillLeft()).toBe(1);
});

test('a command without an end is known as such; one that ended is not', async () => {
  await using it = await crashed();
  const intent = (runId: RunId) => ({
    run_id: runId,
    actor,
    cmd: 'make',
    started_at: new Date(0).toISOString(),
  });
  const [open, dropped] = [newRunId(), newRunId()];
  it.leave([
    { type: 'intent', intent: intent(open) },
    { type: 'intent', intent: intent(dropped) },
    { type: 'dropped', runId: dropped },
  ]);
  expect(it.recover().openIntents.map(({ run_id }) => run_id)).toEqual([open]);
});
