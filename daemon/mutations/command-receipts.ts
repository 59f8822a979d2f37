import { RunId } from '../contract/ids.ts';
import type { Receipt } from '../contract/receipts.ts';
import { type Clock, timestamp } from '../lib/clock.ts';
import { StorageFailedError } from '../lib/durable-errors.ts';
import type { TreeKeeper } from '../snapshots/tree-keeper.ts';
import type { CommandBracket, CommandOutcome, CommandStart } from './command-bracket.ts';
import type { Committed } from './committer.ts';
import { withoutCommitted } from './interrupted-changes.ts';
import type { CommandIntent, Journal, JournalEntry } from './journal.ts';
import type { Draft } from './receipt-draft.ts';
import { partsOfChanges, type ReceiptParts } from './receipt-parts.ts';

export interface CommandReceiptsOptions {
  readonly journal: Journal;
  readonly keeper: Pick<TreeKeeper, 'begin' | 'end' | 'cancel'>;
  readonly commit: (draft: Draft) => Promise<Receipt>;
  /** Called before a command begins; throws where none may. */
  readonly onBegin: () => void;
  readonly onFatal: (error: Error) => void;
  readonly clock: Clock;
  /** Puts `***` in the place of secrets. */
  readonly mask: (text: string) => string;
}

const notRun: Receipt['guards'] = { write: 'skipped', hallucination: 'skipped', egress: 'skipped' };

/** Receipts what the commands of a workspace change: intent, look before, look after, receipt. */
export class CommandReceipts implements CommandBracket {
  readonly #options: CommandReceiptsOptions;
  readonly #commands = new Map<RunId, CommandIntent>();
  /** Of commands whose receipt could not be written: the change is there, so they are tried again. */
  readonly #unreceipted: Draft[] = [];
  /** Of commands whose changes could not be looked for. */
  readonly #unended: (() => Promise<CommandOutcome>)[] = [];

  constructor(options: CommandReceiptsOptions) {
    this.#options = options;
  }

  begin(start: CommandStart): undefined | Promise<void> {
    this.#options.onBegin();
    const intent: CommandIntent = {
      run_id: start.runId,
      actor: start.actor,
      cmd: this.#options.mask(start.cmd.toWellFormed()),
      ...(start.host === undefined ? {} : { host: start.host }),
      started_at: timestamp(this.#options.clock()),
    };
    this.#journalEntry({ type: 'intent', intent });
    this.#commands.set(start.runId, intent);
    // Nothing durable stands before a command's first byte.
    this.#options.journal.sync().catch((error: Error) => this.#options.onFatal(error));
    return intent.host === undefined ? this.#options.keeper.begin(start.runId) : undefined;
  }

  end(runId: RunId, { exitCode }: { readonly exitCode: number | null }): Promise<CommandOutcome> {
    return this.#end(runId, exitCode, []);
  }

  cancel(runId: RunId): void {
    const intent = this.#commands.get(runId);
    if (intent === undefined) return;
    this.#commands.delete(runId);
    // A worker that died knows of no run any more.
    if (intent.host === undefined) this.#options.keeper.cancel(runId).catch(() => undefined);
    this.#journalEntry({ type: 'dropped', runId });
  }

  /** Whether a command is running in the workspace. */
  get areRunning(): boolean {
    return this.#commands.size > 0;
  }

  /**
   * Receipts a command that died with its daemon.
   *
   * @param committed what that daemon left in the journal, oldest first
   */
  async finish(intent: CommandIntent, committed: readonly Committed[]): Promise<void> {
    const runId = RunId.parse(intent.run_id);
    this.#commands.set(runId, intent);
    this.#journalEntry({ type: 'intent', intent });
    await this.#end(runId, null, committed);
  }

  /** Receipts what could not be receipted before, a disk having been full. @throws where it still can't be */
  async retry(): Promise<void> {
    for (let end = this.#unended.shift(); end !== undefined; end = this.#unended.shift()) await end();
    for (let draft = this.#unreceipted.shift(); draft !== undefined; draft = this.#unreceipted.shift()) {
      try {
        await this.#options.commit(draft);
      } catch (error) {
        this.#unreceipted.unshift(draft);
        throw error;
      }
    }
  }

  /** `earlier`: what an earlier daemon left in the journal, for a command that it did not see the end of. */
  async #end(runId: RunId, exitCode: number | null, earlier: readonly Committed[]): Promise<CommandOutcome> {
    const intent = this.#commands.get(runId);
    if (intent === undefined) return { receipt: null };
    if (intent.host !== undefined) {
      this.#commands.delete(runId);
      return this.#commit(draftOf(intent, exitCode, partsOfChanges([], [])));
    }
    const { concurrent, ...found } = await this.#options.keeper.end(runId).catch((error: unknown) => {
      this.#unended.push(() => this.#end(runId, exitCode, earlier));
      throw error;
    });
    const { changes, diffs } = withoutCommitted(found, earlier);
    this.#commands.delete(runId);
    if (changes.length === 0) {
      this.#journalEntry({ type: 'dropped', runId });
      return { receipt: null };
    }
    return this.#commit({
      ...draftOf(intent, exitCode, partsOfChanges(changes, diffs)),
      concurrentRuns: concurrent.map((id) => RunId.parse(id)),
    });
  }

  async #commit(draft: Draft): Promise<CommandOutcome> {
    try {
      await this.retry();
      return { receipt: await this.#options.commit(draft) };
    } catch (error) {
      this.#unreceipted.push(draft);
      throw error;
    }
  }

  #journalEntry(entry: JournalEntry): void {
    try {
      this.#options.journal.append([entry]);
    } catch (error) {
      if (error instanceof StorageFailedError && error.fatal) this.#options.onFatal(error);
      throw error;
    }
  }
}

function draftOf(intent: CommandIntent, exitCode: number | null, parts: ReceiptParts): Draft {
  const { host } = intent;
  return {
    runId: RunId.parse(intent.run_id),
    action: 'apply',
    tool: host === undefined ? 'shell.run' : 'ssh.run',
    actor: intent.actor,
    command: { cmd: intent.cmd, exit_code: exitCode, ...(host === undefined ? {} : { host }) },
    guards: notRun,
    steps: [],
    parts,
    intent,
  };
}
