import type { KeyId, RunId, SnapshotId, UserId, WorkspaceId } from '../../contract/ids.ts';
import type { FileDiff, Receipt, TouchedFile } from '../../contract/receipts.ts';
import { newId } from '../../lib/ids.ts';
import { genesisHash, receiptIdOf, type SealedReceipt, sealReceipt } from '../receipt-format.ts';

const startMs = Date.UTC(2026, 2, 1);

export interface ChainEndLike {
  readonly count: number;
  readonly selfHash: string;
}

export interface ChainOptions {
  readonly wsId: string;
  /** What the first follows; the genesis hash if not given. */
  readonly after?: ChainEndLike;
  /** By position in the answer; each has one of its own if not given. */
  readonly runId?: (at: number) => string;
  readonly path?: (seq: number) => string;
}

/** Sealed receipts, each following the one before. */
export function sealedChain(length: number, { wsId, after, runId, path }: ChainOptions): SealedReceipt[] {
  const chain: SealedReceipt[] = [];
  let prevHash = after?.selfHash ?? genesisHash(wsId);
  for (let at = 0; at < length; at += 1) {
    const seq = (after?.count ?? 0) + at + 1;
    const sealed = sealReceipt(draft({ wsId, seq, prevHash, runId: runId?.(at), path: path?.(seq) }));
    chain.push(sealed);
    prevHash = sealed.selfHash;
  }
  return chain;
}

interface DraftOptions {
  readonly wsId: string;
  readonly seq: number;
  readonly prevHash: string;
  readonly runId: string | undefined;
  readonly path: string | undefined;
}

function draft({
  wsId,
  seq,
  prevHash,
  runId,
  path = `src/file-${seq}.ts`,
}: DraftOptions): Omit<Receipt, 'self_hash'> {
  const timestampMs = startMs + seq * 1000;
  const file: TouchedFile = {
    path,
    before_hash: 'absent',
    after_hash: `sha256:${'0'.repeat(64)}`,
    before_mode: 'absent',
    after_mode: '100644',
  };
  const diff: FileDiff = {
    path,
    hunks: [{ old_start: 0, old_lines: 0, new_start: 1, new_lines: 1, lines: [`+line ${seq}`] }],
  };
  return {
    receipt_id: receiptIdOf(seq, timestampMs),
    seq,
    timestamp: new Date(timestampMs).toISOString(),
    user_id: newId('u') as UserId,
    workspace_id: wsId as WorkspaceId,
    run_id: (runId ?? newId('run')) as RunId,
    action: 'apply',
    tool: 'file.write',
    actor: { type: 'key', key_id: newId('key') as KeyId },
    snapshot_id: newId('snap') as SnapshotId,
    symbols_checked: 0,
    guards: { write: 'pass', hallucination: 'skipped', egress: 'skipped' },
    cost: { usd: 0, tokens_in: 0, tokens_out: 0 },
    models: [],
    files: [file],
    diffs: [diff],
    prev_receipt_hash: prevHash,
  };
}
