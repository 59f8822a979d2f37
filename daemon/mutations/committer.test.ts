import { expect, test } from 'vitest';
import { UserId, WorkspaceId } from '../contract/ids.ts';
import { StorageFailedError, StorageFullError } from '../lib/durable-errors.ts';
import { newId } from '../lib/ids.ts';
import { tempFolder } from '../lib/testing/temp-folder.ts';
import { genesisHash, receiptIdOf, type SealedReceipt, sealReceipt } from '../receipts/receipt-format.ts';
import { Committer, type CommitterOptions } from './committer.ts';
import { Journal } from './journal.ts';
import type { Step } from './mutation-plan.ts';
import { type Draft, newRunId } from './receipt-draft.ts';
import { partsOfSteps } from './receipt-parts.ts';

const wsId = WorkspaceId.parse(newId('ws'));

/** A chain in memory, which can be told to refuse. */
class MemoryChain {
  readonly receipts: SealedReceipt[] = [];
  refusal: Error | undefined;
  readonly writable = Promise.resolve();

  get head() {
    const last = this.receipts.at(-1);
    return {
      count: this.receipts.length,
      selfHash: last?.selfHash ?? genesisHash(wsId),
      receiptId: last?.receipt.receipt_id ?? null,
      indexHash: '',
    };
  }

  append(batch: readonly SealedReceipt[]): void {
    if (this.refusal !== undefined && batch.length > 0) throw this.refusal;
    this.receipts.push(...batch);
  }
}

async function setUp(overrides: Partial<CommitterOptions> = {}) {
  const folder = await tempFolder();
  const { journal } = Journal.open(folder.path);
  const chain = new MemoryChain();
  const events: string[] = [];
  const nameOf = (steps: readonly Step[]) =>
    steps.map((step) => (step.kind === 'folder' ? step.path : '')).join();
  const committer = new Committer({
    wsId,
    userId: UserId.parse(newId('u')),
    journal,
    store: chain,
    format: { receiptIdOf, sealReceipt },
    mask: (text) => text,
    apply: (steps) => {
      const name = nameOf(steps);
      if (name.startsWith('refused')) throw new Error(`${name} is refused`);
      events.push(`made ${name}`);
      return () => events.push(`undone ${name}`);
    },
    announce: async () => () => undefined,
    onCommitted: ({ draft }) => events.push(`committed ${nameOf(draft.steps)}`),
    onBatchDone: () => undefined,
    onFatal: (error) => events.push(`fatal: ${error.message}`),
    clock: () => 1_000_000,
    ...overrides,
  });
  const journaled = () => {
    const { left } = Journal.open(folder.path);
    return left.flatMap((entry) => (entry.type === 'mutation' ? [nameOf(entry.steps)] : []));
  };
  return {
    committer,
    chain,
    journal,
    events,
    journaled,
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

function draft(name: string): Draft {
  const steps: Step[] = [{ kind: 'folder', path: name }];
  return {
    runId: newRunId(),
    action: 'apply',
    tool: 'file.write',
    actor: { type: 'key', key_id: newId('key') as never },
    guards: { write: 'pass', hallucination: 'skipped', egress: 'skipped' },
    steps,
    parts: partsOfSteps(steps),
  };
}

const settled = async (work: Promise<unknown>[]) =>
  (await Promise.allSettled(work)).map(({ status }) => status);

test('callers at the same time get links of one chain, in the order they came', async () => {
  await using it = await setUp();
  const receipts = await Promise.all(
    Array.from({ length: 700 }, (_, at) => it.committer.commit(draft(`f${at}`))),
  );
  expect(receipts.map(({ seq }) => seq)).toEqual(receipts.map((_, at) => at + 1));
  let previous = genesisHash(wsId);
  for (const receipt of receipts) {
    expect(receipt.prev_receipt_hash).toBe(previous);
    previous = receipt.self_hash;
  }
  expect(it.chain.receipts.map(({ receipt }) => receipt)).toEqual(receipts);
  expect(it.journaled()).toHaveLength(700);
});

test('a change that is refused is in no chain and no journal, and the others are, without a gap', async () => {
  await using it = await setUp();
  const names = ['a', 'b', 'refused 1', 'c', 'refused 2', 'd'];
  expect(await settled(names.map((name) => it.committer.commit(draft(name))))).toEqual([
    'fulfilled',
    'fulfilled',
    'rejected',
    'fulfilled',
    'rejected',
    'fulfilled',
  ]);
  expect(it.chain.receipts.map(({ receipt }) => receipt.seq)).toEqual([1, 2, 3, 4]);
  expect(it.journaled()).toEqual(['a', 'b', 'c', 'd']);
  expect(it.events.filter((event) => event.startsWith('undone'))).toEqual([]);
});

test('where the receipts find no room, the changes are taken back and nothing stays in the journal', async () => {
  await using it = await setUp();
  await it.committer.commit(draft('kept'));
  it.chain.refusal = new StorageFullError('receipts');
  expect(await settled([it.committer.commit(draft('a')), it.committer.commit(draft('b'))])).toEqual([
    'rejected',
    'rejected',
  ]);
  expect(it.events.slice(-4)).toEqual(['made a', 'made b', 'undone b', 'undone a']);
  expect(it.journaled()).toEqual(['kept']);
  it.chain.refusal = undefined;
  expect((await it.committer.commit(draft('again'))).seq).toBe(2);
  expect(it.journaled()).toEqual(['kept', 'again']);
});

test('where the journal has no room, nothing is changed and the next change is taken', async () => {
  await using it = await setUp();
  const append = it.journal.append.bind(it.journal);
  it.journal.append = () => {
    throw new StorageFullError('journal');
  };
  await expect(it.committer.commit(draft('a'))).rejects.toThrow('no room');
  expect(it.events).toEqual([]);
  it.journal.append = append;
  expect((await it.committer.commit(draft('b'))).seq).toBe(1);
});

test('a failed fsync ends it: all callers are refused, now and later, and nothing is changed', async () => {
  await using it = await setUp();
  it.journal.sync = () => Promise.reject(new StorageFailedError('journal', true));
  expect(await settled([it.committer.commit(draft('a')), it.committer.commit(draft('b'))])).toEqual([
    'rejected',
    'rejected',
  ]);
  await expect(it.committer.commit(draft('c'))).rejects.toThrow('disk failed');
  expect(it.events).toEqual(['fatal: The disk failed while this change was being saved.']);
});

test('a disk that fails while a change is journaled ends it too, and nothing is changed', async () => {
  await using it = await setUp();
  it.journal.append = () => {
    throw new StorageFailedError('journal', true);
  };
  await expect(it.committer.commit(draft('a'))).rejects.toThrow('disk failed');
  expect(it.events).toEqual(['fatal: The disk failed while this change was being saved.']);
});

test('a disk that fails while receipts are written takes the changes back, and ends it', async () => {
  await using it = await setUp();
  it.chain.refusal = new StorageFailedError('receipts', true);
  await expect(it.committer.commit(draft('a'))).rejects.toThrow('disk failed');
  expect(it.events.slice(0, 2)).toEqual(['made a', 'undone a']);
  expect(it.events).toContain('fatal: The disk failed while this change was being saved.');
  expect(it.journaled()).toEqual([]);
});

test('a change that can be neither made nor taken back ends it, and stays in the journal for the next daemon', async () => {
  await using it = await setUp({
    apply: (steps) => {
      if (steps.some((step) => step.kind === 'folder' && step.path === 'b'))
        throw new StorageFailedError('b', true);
      return () => undefined;
    },
  });
  expect(await settled(['a', 'b', 'c'].map((name) => it.committer.commit(draft(name))))).toEqual([
    'fulfilled',
    'rejected',
    'rejected',
  ]);
  expect(it.chain.receipts).toHaveLength(1);
  expect(it.journaled()).toEqual(['a', 'b', 'c']);
  await expect(it.committer.commit(draft('d'))).rejects.toThrow('disk failed');
});
