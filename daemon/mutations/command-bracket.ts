import type { RunId } from '../contract/ids.ts';
import type { Actor, Receipt } from '../contract/receipts.ts';

/** What the shell says of a command that is about to run. */
export interface CommandStart {
  readonly runId: RunId;
  readonly actor: Actor;
  /** As it may be written down: masked. */
  readonly cmd: string;
  /** Where it runs, if that is another host: then it changes nothing here, and has its receipt all the same. */
  readonly host?: string;
}

/** How a command ended: its receipt, or null where it changed nothing. */
export interface CommandOutcome {
  readonly receipt: Receipt | null;
}

/**
 * The door for commands, which change what they like while they run: what it was is found by looking before and after.
 * Concurrent commands are told apart by who ends first.
 */
export interface CommandBracket {
  /**
   * Called right before the command's process is started. Answers at once where the tree is watched; else resolves when
   * its state is known.
   *
   * @throws StorageFullError, StorageFailedError where the intent can't be written down
   */
  begin(start: CommandStart): undefined | Promise<void>;
  /** Called when no process of the command is left. Resolves once the receipt, if there is one, is durable. */
  end(runId: RunId, result: { readonly exitCode: number }): Promise<CommandOutcome>;
  /** The command was never started. */
  cancel(runId: RunId): void;
}
