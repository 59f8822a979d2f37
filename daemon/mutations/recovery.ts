import type { Committed } from './committer.ts';
import type { CommandIntent, LeftEntry } from './journal.ts';
import type { Step } from './mutation-plan.ts';
import { partsOfChanges, partsOfSteps } from './receipt-parts.ts';

export interface RecoveryOptions {
  readonly left: readonly LeftEntry[];
  /** Whether the receipt's file is there, whatever is in it. */
  readonly hasReceipt: (receiptId: string) => boolean;
  /** Takes those of the steps that were not taken; false where they can't be. */
  readonly redo: (steps: readonly Step[]) => boolean;
  /** Marks an entry as never written, durably. */
  readonly voidEntry: (entry: LeftEntry) => void;
}

export interface Recovered {
  /** Every mutation of the journal that is, or is to be, in the chain, in order. */
  readonly committed: Committed[];
  /** Commands that the daemon did not see the end of. */
  readonly openIntents: CommandIntent[];
  readonly repairs: string[];
}

/**
 * Finishes or drops what an earlier daemon left in the journal. A mutation whose receipt file is there was made: the
 * receipt is written after the change. One without it is made now, or, where that can't be, dropped with all after it: none
 * of those was acknowledged.
 */
export function recoverMutations({ left, hasReceipt, redo, voidEntry }: RecoveryOptions): Recovered {
  const committed: Committed[] = [];
  const repairs: string[] = [];
  const intents = new Map<string, CommandIntent>();
  const dropped: LeftEntry[] = [];
  for (const entry of left) {
    if (entry.type === 'intent') intents.set(entry.intent.run_id, entry.intent);
    else if (entry.type === 'dropped') intents.delete(entry.runId);
    else {
      const { receipt_id, run_id } = entry.receipt;
      const made = hasReceipt(receipt_id);
      if (dropped.length > 0 || !(made || redo(entry.steps))) {
        dropped.push(entry);
        repairs.push(
          `The change of ${receipt_id} was cut short and can't be made; it was never acknowledged.`,
        );
        continue;
      }
      if (!made) repairs.push(`The change of ${receipt_id} was cut short, and has been finished.`);
      intents.delete(run_id);
      committed.push(committedOf(entry));
    }
  }
  // Last first: whenever a crash comes between, what is left is the beginning of a chain.
  for (const entry of dropped.toReversed()) voidEntry(entry);
  return { committed, openIntents: [...intents.values()], repairs };
}

function committedOf(entry: LeftEntry & { type: 'mutation' }): Committed {
  const { receipt, snapshot, steps } = entry;
  const parts = steps.length > 0 ? partsOfSteps(steps) : partsOfChanges([], []);
  return {
    receipt,
    snapshot,
    draft: {
      runId: receipt.run_id,
      action: receipt.action,
      tool: receipt.tool,
      actor: receipt.actor,
      guards: receipt.guards,
      steps,
      parts,
    },
  };
}
