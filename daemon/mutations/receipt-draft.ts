import { RunId, SnapshotId, type UserId } from '../contract/ids.ts';
import type { Actor, FileDiff, Receipt, Tool } from '../contract/receipts.ts';
import { type Clock, timestamp } from '../lib/clock.ts';
import { newId } from '../lib/ids.ts';
import type { receiptIdOf, sealReceipt } from '../receipts/receipt-format.ts';
import type { SnapshotRecord } from '../snapshots/entry-state.ts';
import type { CommandIntent } from './journal.ts';
import type { Step } from './mutation-plan.ts';
import type { ReceiptParts } from './receipt-parts.ts';

/** How a receipt gets its name and its hash: `receipts/receipt-format.ts`. */
export interface ReceiptFormat {
  readonly sealReceipt: typeof sealReceipt;
  readonly receiptIdOf: typeof receiptIdOf;
}

/** A change and all that its receipt will say of it. */
export interface Draft {
  readonly runId: RunId;
  readonly action: Receipt['action'];
  readonly tool: Tool;
  readonly actor: Actor;
  readonly command?: NonNullable<Receipt['command']>;
  readonly concurrentRuns?: readonly RunId[];
  readonly rolledBackRunId?: RunId;
  readonly guards: Receipt['guards'];
  /** What is to be done once the receipt is durable; empty where a command has done it. */
  readonly steps: readonly Step[];
  readonly parts: ReceiptParts;
  /** The command's intent, which this receipt fulfils. */
  readonly intent?: CommandIntent;
}

/** Where in which chain. */
export interface ReceiptPlace {
  readonly wsId: Receipt['workspace_id'];
  readonly userId: UserId;
  readonly clock: Clock;
  readonly format: Pick<ReceiptFormat, 'receiptIdOf'>;
  readonly seq: number;
  /** `self_hash` of the receipt before. */
  readonly prev: string;
  readonly snapshot: SnapshotRecord;
  /** Puts `***` in the place of secrets. */
  readonly mask: (text: string) => string;
}

/** The receipt of a draft at its place in the chain, as it is before it gets its hash. */
export function composeReceipt(
  draft: Draft,
  { wsId, userId, clock, format, seq, prev, snapshot, mask }: ReceiptPlace,
): Omit<Receipt, 'self_hash'> {
  const nowMs = clock();
  return {
    receipt_id: format.receiptIdOf(seq, nowMs),
    seq,
    timestamp: timestamp(nowMs),
    user_id: userId,
    workspace_id: wsId,
    run_id: draft.runId,
    action: draft.action,
    tool: draft.tool,
    actor: draft.actor,
    ...(draft.command === undefined ? {} : { command: { ...draft.command, cmd: mask(draft.command.cmd) } }),
    ...(draft.concurrentRuns === undefined || draft.concurrentRuns.length === 0
      ? {}
      : { concurrent_runs: [...draft.concurrentRuns] }),
    ...(draft.rolledBackRunId === undefined ? {} : { rolled_back_run_id: draft.rolledBackRunId }),
    files: draft.parts.files,
    diffs: draft.parts.diffs.map((diff) => maskDiff(diff, mask)),
    snapshot_id: SnapshotId.parse(snapshot.snapshot_id),
    symbols_checked: 0,
    guards: draft.guards,
    cost: { usd: 0, tokens_in: 0, tokens_out: 0 },
    models: [],
    prev_receipt_hash: prev,
  };
}

/** Line by line, so that a diff keeps its lines; only where there is something to mask. */
function maskDiff(diff: FileDiff, mask: (text: string) => string): FileDiff {
  const text = diff.hunks.map(({ lines }) => lines.join('\n')).join('\n');
  if (mask(text) === text) return diff;
  const hunks = diff.hunks.map((hunk) => ({
    ...hunk,
    lines: hunk.lines.map((line) => line.charAt(0) + mask(line.slice(1))),
  }));
  return { ...diff, hunks };
}

export function newRunId(): RunId {
  return RunId.parse(newId('run'));
}
