import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { CodedError } from '../contract/errors.ts';
import type { UserId, WorkspaceId } from '../contract/ids.ts';
import type { Receipt } from '../contract/receipts.ts';
import type { Clock } from '../lib/clock.ts';
import { PathChangedError } from '../lib/confined-folder.ts';
import { StorageClosedError } from '../lib/durable-errors.ts';
import type { SealedReceipt } from '../receipts/receipt-format.ts';
import type { ReceiptStore } from '../receipts/receipt-store.ts';
import type { SnapshotRecord, TreeChange } from '../snapshots/entry-state.ts';
import type { TreeKeeper } from '../snapshots/tree-keeper.ts';
import { applySteps } from './apply-steps.ts';
import { CommandReceipts } from './command-receipts.ts';
import { type Committed, Committer } from './committer.ts';
import { type CommandIntent, Journal, voidLeftEntry } from './journal.ts';
import type { MutationRequest, MutationResult } from './mutation-plan.ts';
import { PathLocks } from './path-locks.ts';
import { type Draft, newRunId, type ReceiptFormat } from './receipt-draft.ts';
import { partsOfSteps, type StoredContent } from './receipt-parts.ts';
import { recoverMutations } from './recovery.ts';
import { redoSteps } from './redo-steps.ts';
import { removeTempFiles } from './remove-temp-files.ts';
import { WriteBehind } from './write-behind.ts';

export interface WorkspaceDoorOptions {
  readonly wsId: WorkspaceId;
  /** Real path of the project folder. */
  readonly root: string;
  /** The service's own folder for the workspace. */
  readonly folder: string;
  readonly userId: UserId;
  readonly clock: Clock;
  readonly format: ReceiptFormat;
  /** Puts `***` in the place of secrets: in the commands and diffs of receipts. */
  readonly mask: (text: string) => string;
  readonly openStore: (pending: readonly SealedReceipt[]) => Promise<ReceiptStore>;
  /** `interrupted`: commands that were under way when the last daemon died; what changed since is theirs. */
  readonly openKeeper: (interrupted: readonly string[]) => TreeKeeper;
  /** Makes the daemon's own copy of the chain's end durable. */
  readonly syncTrusted: () => Promise<void>;
  /** Called for every receipt, in chain order, before its caller is answered. */
  readonly onReceipt: (receipt: Receipt) => void;
  readonly onNotice: (message: string) => void;
  readonly onFatal: (error: Error) => void;
}

interface Opened {
  readonly journal: Journal;
  readonly store: ReceiptStore;
  readonly keeper: TreeKeeper;
  readonly openIntents: readonly CommandIntent[];
  readonly repairs: readonly string[];
}

/** What a plan says may have been overtaken by an editor this many times before the caller is told. */
const maxTries = 4;
/** Of one change: contents from before and after. They are held in memory and written to the journal. */
const maxContentBytes = 256 * 1024 * 1024;
/** Contents that are held back for the keeper at most. */
const maxUnsent = 256;
const ran: Receipt['guards'] = { write: 'pass', hallucination: 'skipped', egress: 'skipped' };

/** The only way to change one workspace. Opening it finishes or drops what an earlier daemon left half done. */
export class WorkspaceDoor implements AsyncDisposable {
  readonly store: ReceiptStore;
  readonly commands: CommandReceipts;
  /** What was mended when the door was opened, in sentences. */
  readonly repairs: readonly string[];
  readonly #journal: Journal;
  readonly #keeper: TreeKeeper;
  readonly #committer: Committer;
  readonly #behind: WriteBehind;
  readonly #locks = new PathLocks();
  /** Contents that the keeper does not have yet. */
  readonly #unsent: StoredContent[] = [];
  #closed = false;

  static async open(options: WorkspaceDoorOptions): Promise<WorkspaceDoor> {
    const { folder, root, format } = options;
    const { journal, left, segments } = Journal.open(join(folder, 'intents'));
    removeTempFiles(
      root,
      left.flatMap((entry) => (entry.type === 'mutation' ? entry.steps : [])),
    );
    const recovered = recoverMutations({
      left,
      hasReceipt: (receiptId) => hasReceipt(folder, receiptId),
      redo: (steps) => redoSteps(root, steps),
      voidEntry: voidLeftEntry,
    });
    const pending = recovered.committed.map(({ receipt: { self_hash: _, ...draft } }) =>
      format.sealReceipt(draft),
    );
    const store = await options.openStore(pending);
    const keeper = options.openKeeper(
      recovered.openIntents.flatMap(({ run_id, host }) => (host === undefined ? [run_id] : [])),
    );
    const door = new WorkspaceDoor(options, { journal, store, keeper, ...recovered });
    await door.#settle(segments, recovered.committed, recovered.openIntents);
    return door;
  }

  private constructor(options: WorkspaceDoorOptions, { journal, store, keeper, repairs }: Opened) {
    const { root, onReceipt } = options;
    this.#journal = journal;
    this.#keeper = keeper;
    this.store = store;
    this.repairs = [...store.repairs, ...repairs];
    this.#behind = new WriteBehind({
      ...options,
      journal,
      store,
      keeper,
      isBusy: () => this.#committer.isRunning || this.#committer.isBroken,
    });
    this.#committer = new Committer({
      ...options,
      journal,
      store,
      apply: (steps) => applySteps(root, steps),
      announce: () => keeper.announce(),
      onBatchDone: () => this.#behind.atRest(),
      onCommitted: (committed) => {
        this.#afterCommit(committed);
        onReceipt(committed.receipt);
      },
    });
    this.commands = new CommandReceipts({
      ...options,
      journal,
      keeper,
      commit: (draft) => this.#committer.commit(draft),
      onBegin: () => {
        this.#checkOpen();
        if (this.#unsent.length > 0) this.#tellKeeper([], this.#unsent.splice(0));
      },
    });
  }

  /** @throws what the plan throws; conflict where a file keeps changing under its feet; the storage errors */
  async mutate(request: MutationRequest, extra: Partial<Draft> = {}): Promise<MutationResult> {
    this.#checkOpen();
    await this.#behind.room();
    const unlock = await this.#locks.acquire(request.locks);
    try {
      await this.commands.retry();
      return await this.#planAndCommit(request, extra);
    } finally {
      unlock();
    }
  }

  /** A content of a snapshot; null where it is not kept any more. */
  async content(oid: string): Promise<Buffer | null> {
    return this.#behind.content(oid) ?? (await this.#keeper.read(oid));
  }

  /** Null where it was pruned. */
  async snapshot(snapshotId: string): Promise<SnapshotRecord | null> {
    return this.#behind.snapshot(snapshotId) ?? (await this.#keeper.snapshot(snapshotId));
  }

  /** Resolves when all that was written so far is in its place. */
  async drain(): Promise<void> {
    await this.#committer.idle();
    await this.#behind.drain();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#committer.idle();
    await this.commands.retry().catch(() => undefined); // still no room: the intent stays in the journal
    // What the next daemon has to finish stays in the journal.
    const done = this.#committer.isBroken ? false : await this.#behind.drain();
    this.#journal.close({ done });
    await this.#keeper[Symbol.asyncDispose]();
  }

  async #planAndCommit(request: MutationRequest, extra: Partial<Draft>): Promise<MutationResult> {
    const runId = newRunId();
    for (let tries = 1; ; tries += 1) {
      try {
        const steps = await request.plan();
        if (steps.length === 0) return { runId, receipt: null };
        const parts = partsOfSteps(steps);
        checkSize(parts.contents);
        const { actor, tool } = request;
        const draft: Draft = { runId, action: 'apply', actor, tool, guards: ran, ...extra, steps, parts };
        return { runId, receipt: await this.#committer.commit(draft) };
      } catch (error) {
        if (!(error instanceof PathChangedError)) throw error;
        if (tries === maxTries)
          throw new CodedError('conflict', 'The file is being changed by something else at the same time.', {
            cause: error,
          });
      }
    }
  }

  #afterCommit(committed: Committed): void {
    const { draft } = committed;
    this.#behind.add(committed);
    // What a command changed, the keeper has found itself.
    if (draft.steps.length > 0) this.#note(draft);
  }

  #note({ parts }: Draft): void {
    this.#unsent.push(...parts.contents);
    // The contents are for the diffs of commands: while none runs, they need not go one by one.
    const contents =
      this.commands.areRunning || this.#unsent.length >= maxUnsent ? this.#unsent.splice(0) : [];
    this.#tellKeeper(parts.changes, contents);
  }

  #tellKeeper(changes: readonly TreeChange[], contents: readonly StoredContent[]): void {
    // A worker that dies with it looks at the whole tree when it is back.
    this.#keeper.note(changes, contents).catch(() => undefined);
  }

  /** What an earlier daemon left is put in its place, before anything new is let in. */
  async #settle(
    segments: readonly string[],
    committed: readonly Committed[],
    intents: readonly CommandIntent[],
  ): Promise<void> {
    // The keeper looks at the whole tree when it is opened: it need not be told of what was committed.
    for (const intent of intents) await this.commands.finish(intent, committed);
    if (segments.length > 0) await this.#behind.recover(segments, committed);
  }

  #checkOpen(): void {
    if (this.#closed) throw new StorageClosedError();
  }
}

/** Receipts in the journal that an earlier daemon left, of changes that were made. */
export function leftReceipts(
  folder: string,
  { sealReceipt }: Pick<ReceiptFormat, 'sealReceipt'>,
): SealedReceipt[] {
  return Journal.open(join(folder, 'intents')).left.flatMap((entry) => {
    if (entry.type !== 'mutation' || !hasReceipt(folder, entry.receipt.receipt_id)) return [];
    const { self_hash: _, ...draft } = entry.receipt;
    return [sealReceipt(draft)];
  });
}

function hasReceipt(folder: string, receiptId: string): boolean {
  return existsSync(join(folder, 'receipts', `${receiptId}.json`));
}

function checkSize(contents: readonly { readonly bytes: Buffer }[]): void {
  let bytes = 0;
  for (const content of contents) bytes += content.bytes.length;
  if (bytes > maxContentBytes)
    throw new CodedError('too_many_files', 'This would change more than 256 MiB at once; take it in parts.');
}
