import { existsSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { CodedError } from '../contract/errors.ts';
import { ReceiptId, type RunId, type WorkspaceId } from '../contract/ids.ts';
import type { Actor, Receipt, RollbackPlan, RolledBack, RunVerdict } from '../contract/receipts.ts';
import type { ReceiptStore } from '../receipts/receipt-store.ts';
import type { CommandBracket } from './command-bracket.ts';
import type { Door, MutationRequest, MutationResult } from './mutation-plan.ts';
import { planRollback, type Replacement, type RollbackSource, refuseConflicts } from './rollback-plan.ts';
import type { WorkspaceDoor } from './workspace-door.ts';

export interface Workspace {
  readonly wsId: WorkspaceId;
  readonly slug: string;
  /** Real path of the project folder. */
  readonly path: string;
}

export interface MutationsOptions {
  readonly openDoor: (workspace: Workspace) => Promise<WorkspaceDoor>;
  /** The receipts alone, for a project whose folder is not there now. */
  readonly openStore: (workspace: Workspace) => Promise<ReceiptStore>;
  readonly verifyRun: (store: ReceiptStore, runId: RunId) => Promise<RunVerdict>;
  readonly replacementOf: (workspace: Workspace) => Replacement;
}

const idleMs = 10 * 60_000;
const closeMs = 1200;

/** The doors of all workspaces, each opened when it is first needed, and closed when it has not been used for a while. */
export class Mutations implements Door, AsyncDisposable {
  readonly #options: MutationsOptions;
  readonly #doors = new Map<WorkspaceId, Promise<WorkspaceDoor>>();
  readonly #stores = new Map<WorkspaceId, Promise<ReceiptStore>>();
  readonly #closing = new Map<WorkspaceId, Promise<void>>();
  readonly #usedAt = new Map<WorkspaceId, number>();
  readonly #timer: NodeJS.Timeout;

  constructor(options: MutationsOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.closeIdle(idleMs), idleMs / 10).unref();
  }

  /** Closes the doors that nobody has used for so long and no command is running in: each has a thread of its own. */
  closeIdle(unusedMs: number): void {
    const before = performance.now() - unusedMs;
    for (const [wsId, opening] of this.#doors) {
      if ((this.#usedAt.get(wsId) ?? 0) > before) continue;
      void opening.then(
        async (door) => {
          if (
            door.commands.areRunning ||
            (this.#usedAt.get(wsId) ?? 0) > before ||
            this.#doors.get(wsId) !== opening
          )
            return;
          this.#doors.delete(wsId);
          const closing = door[Symbol.asyncDispose]().finally(() => this.#closing.delete(wsId));
          this.#closing.set(wsId, closing);
          await closing;
        },
        () => undefined,
      ); // it never opened, and is not kept
    }
  }

  async mutate(workspace: Workspace, request: MutationRequest): Promise<MutationResult> {
    return (await this.#door(workspace)).mutate(request);
  }

  /** @throws CodedError folder_not_found where the project is not there */
  async bracket(workspace: Workspace): Promise<CommandBracket> {
    return (await this.#door(workspace)).commands;
  }

  /** Opens the door ahead: the first look at a large tree takes a while. */
  prepare(workspace: Workspace, onFailed: (error: unknown) => void): void {
    this.#door(workspace).catch(onFailed);
  }

  async receiptsOf(workspace: Workspace): Promise<ReceiptStore> {
    if (this.#doors.has(workspace.wsId) || existsSync(workspace.path)) {
      this.#stores.delete(workspace.wsId);
      return (await this.#door(workspace)).store;
    }
    return this.#once(this.#stores, workspace, this.#options.openStore);
  }

  /** What was mended when the workspace was opened. */
  async repairsOf(workspace: Workspace): Promise<readonly string[]> {
    const store = await this.receiptsOf(workspace);
    return (await this.#doors.get(workspace.wsId))?.repairs ?? store.repairs;
  }

  /** @throws CodedError unknown_run */
  async previewRollback(workspace: Workspace, runId: RunId): Promise<RollbackPlan> {
    const door = await this.#door(workspace);
    await this.#checkRun(door, runId);
    return (await planRollback(this.#sourceOf(workspace, door), runId, { force: true })).plan;
  }

  /** @throws CodedError unknown_run, rollback_conflict */
  async rollBack(
    workspace: Workspace,
    { runId, force, actor }: { readonly runId: RunId; readonly force: boolean; readonly actor: Actor },
  ): Promise<RolledBack> {
    const door = await this.#door(workspace);
    await this.#checkRun(door, runId);
    let plan: RollbackPlan | undefined;
    const request: MutationRequest = {
      actor,
      tool: 'rollback',
      locks: 'all',
      plan: async () => {
        const planned = await planRollback(this.#sourceOf(workspace, door), runId, { force });
        plan = planned.plan;
        if (!force) refuseConflicts(plan);
        return planned.steps;
      },
    };
    const result = await door.mutate(request, { action: 'rollback', rolledBackRunId: runId });
    return {
      ...(plan ?? { run_id: runId, files: [], conflicts: [] }),
      receipt_id: result.receipt?.receipt_id ?? null,
      rollback_run_id: result.runId,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    const closing = [...this.#doors.values()].map(async (opening) => (await opening)[Symbol.asyncDispose]());
    // A slow disk must not keep the daemon from ending: what is not in its place then is in the journal.
    await Promise.race([
      Promise.allSettled([...closing, ...this.#closing.values()]),
      delay(closeMs, undefined, { ref: false }),
    ]);
  }

  /**
   * A receipt says which paths are to be put back: one that was tampered with is not to be believed.
   *
   * @throws CodedError unknown_run, receipts_damaged
   */
  async #checkRun({ store }: WorkspaceDoor, runId: RunId): Promise<void> {
    const { valid, mismatch, receipt_id } = await this.#options.verifyRun(store, runId);
    if (valid) return;
    throw new CodedError(
      'receipts_damaged',
      `The receipt ${receipt_id} is not what the daemon wrote (${mismatch}); nothing was changed.`,
      { members: { mismatch, receipt_id } },
    );
  }

  #sourceOf(workspace: Workspace, door: WorkspaceDoor): RollbackSource {
    return {
      root: workspace.path,
      receipts: (runId) => receiptsOf(door.store, runId),
      snapshot: (id) => door.snapshot(id),
      content: (oid) => door.content(oid),
      replacement: this.#options.replacementOf(workspace),
    };
  }

  #door(workspace: Workspace): Promise<WorkspaceDoor> {
    this.#usedAt.set(workspace.wsId, performance.now());
    return this.#once(this.#doors, workspace, async () => {
      if (!existsSync(workspace.path))
        throw new CodedError('folder_not_found', 'The workspace folder is no longer there.');
      return this.#options.openDoor(workspace);
    });
  }

  async #once<T>(
    opened: Map<WorkspaceId, Promise<T>>,
    workspace: Workspace,
    open: (workspace: Workspace) => Promise<T>,
  ): Promise<T> {
    const known = opened.get(workspace.wsId);
    if (known !== undefined) return known;
    const opening = (this.#closing.get(workspace.wsId) ?? Promise.resolve()).then(() => open(workspace));
    opened.set(workspace.wsId, opening);
    // What failed may work the next time: a disk is mounted, room is made.
    opening.catch(() => opened.delete(workspace.wsId));
    return opening;
  }
}

async function receiptsOf(store: ReceiptStore, runId: RunId): Promise<Receipt[]> {
  const receipts: Receipt[] = [];
  for (const id of await store.receiptsOfRun(runId)) {
    const bytes = await store.read(ReceiptId.parse(id));
    if (bytes === null) throw damaged(id);
    receipts.push(parseReceipt(bytes, id));
  }
  if (receipts.length === 0) throw new CodedError('unknown_run', `There is no receipt of a run ${runId}.`);
  return receipts;
}

function parseReceipt(bytes: Buffer, id: string): Receipt {
  try {
    return JSON.parse(bytes.toString('utf8')) as Receipt;
  } catch (cause) {
    throw damaged(id, cause);
  }
}

function damaged(id: string, cause?: unknown): CodedError {
  return new CodedError('receipts_damaged', `The receipt ${id} can't be read; verify the chain.`, { cause });
}
