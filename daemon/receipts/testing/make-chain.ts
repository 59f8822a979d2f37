import { createHash, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { KeyId, RunId, SnapshotId, UserId, WorkspaceId } from '../../contract/ids.ts';
import type { Receipt } from '../../contract/receipts.ts';
import { newId } from '../../lib/ids.ts';
import { formatCheckpoint, verifierKeyOf } from '../checkpoint-note.ts';
import { genesisHash, receiptIdOf, type SealedReceipt, sealReceipt } from '../receipt-format.ts';

export interface ChainSpec {
  readonly folder: string;
  readonly count: number;
  readonly wsId?: string;
  /** Ed25519 private key; without it, a new one. */
  readonly signer?: KeyObject;
  /** Changes what a receipt says before it is sealed. */
  readonly vary?: (draft: Draft, seq: number) => Draft;
}

export type Draft = Omit<Receipt, 'self_hash'>;

export interface MadeChain {
  readonly folder: string;
  readonly wsId: string;
  readonly count: number;
  readonly head: string;
  /** C2SP verifier key of the checkpoint. */
  readonly key: string;
  readonly signer: KeyObject;
  readonly receiptIds: readonly string[];
}

/** Writes a receipts folder as the daemon would, with nothing but the format modules. */
export function makeChain({ folder, count, vary = (draft) => draft, ...spec }: ChainSpec): MadeChain {
  const wsId = spec.wsId ?? newId('ws');
  const signer = spec.signer ?? generateKeyPairSync('ed25519').privateKey;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'INDEX.jsonl'), '');
  const indexDigest = createHash('sha256');
  const receiptIds: string[] = [];
  let head = genesisHash(wsId);
  for (let seq = 1; seq <= count; seq += 1) {
    const sealed = sealReceipt(vary(draftOf({ seq, wsId, prevHash: head }), seq));
    writeReceipt(folder, sealed);
    indexDigest.update(sealed.indexLine);
    head = sealed.selfHash;
    receiptIds.push(sealed.receipt.receipt_id);
  }
  const indexHash = `sha256:${indexDigest.digest('hex')}`;
  writeFileSync(join(folder, 'CHECKPOINT'), formatCheckpoint({ wsId, count, head, indexHash }, signer));
  return { folder, wsId, count, head, key: verifierKeyOf(signer), signer, receiptIds };
}

/** The receipt's file, and its line at the end of the index. */
export function writeReceipt(folder: string, { receipt, bytes, indexLine }: SealedReceipt): void {
  writeFileSync(join(folder, `${receipt.receipt_id}.json`), bytes);
  appendFileSync(join(folder, 'INDEX.jsonl'), indexLine);
}

export interface DraftPlace {
  readonly seq: number;
  readonly wsId: string;
  readonly prevHash: string;
}

const firstMs = Date.UTC(2026, 0, 30, 23, 59, 50);

/** A receipt of an edited file, some two kilobytes long, or of a command (every third). */
export function draftOf({ seq, wsId, prevHash }: DraftPlace): Draft {
  const ms = firstMs + seq * 7001;
  const shell = seq % 3 === 0;
  return {
    receipt_id: receiptIdOf(seq, ms),
    seq,
    timestamp: new Date(ms).toISOString(),
    user_id: newId('u') as UserId,
    workspace_id: wsId as WorkspaceId,
    run_id: newId('run') as RunId,
    action: 'apply',
    tool: shell ? 'shell.run' : 'file.edit',
    actor: { type: 'key', key_id: newId('key') as KeyId },
    ...(shell ? { command: { cmd: `printf 'é "%s"\\n' 😀 > ${seq}.txt`, exit_code: 0 } } : {}),
    snapshot_id: newId('snap') as SnapshotId,
    symbols_checked: 0,
    guards: { write: 'skipped', hallucination: 'skipped', egress: 'skipped' },
    cost: { usd: seq / 1000, tokens_in: 0, tokens_out: 0 },
    models: [],
    prev_receipt_hash: prevHash,
    files: [
      {
        path: `source/part-${seq % 97}/file.ts`,
        before_hash: `sha256:${String(seq).padStart(64, '0')}`,
        after_hash: `sha256:${String(seq + 1).padStart(64, '0')}`,
        before_mode: '100644',
        after_mode: '100644',
      },
    ],
    diffs: [
      {
        path: `source/part-${seq % 97}/file.ts`,
        hunks: [{ old_start: seq, old_lines: 7, new_start: seq, new_lines: 7, lines: diffLines(seq) }],
      },
    ],
  };
}

function diffLines(seq: number): string[] {
  return Array.from({ length: 7 }, (_, line) => [
    `-  const total${line} = amounts.reduce((sum, amount) => sum + amount, ${seq});`,
    `+  const total${line} = sumOf(amounts, "${seq}"); // \t“${line}”`,
  ]).flat();
}
