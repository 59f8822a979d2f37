import { hash } from 'node:crypto';
import type { ChainVerdict, Fault } from '../../contract/receipts.ts';
import { type ParsedCheckpoint, verifyCheckpoint } from '../checkpoint-note.ts';
import { genesisHash } from '../receipt-format.ts';
import type { FolderContent } from './read-folder.ts';
import { firstUnindexed } from './unindexed-receipt.ts';
import type { ChainResult } from './verify-chain.ts';
import type { VerifyOptions } from './verify-options.ts';

export type Signature = ChainVerdict['signature'];

/** Throws `TypeError` for a key that is none. */
export function signatureOf(
  note: string | undefined,
  checkpoint: ParsedCheckpoint | undefined,
  key: string | undefined,
): Signature {
  if (key !== undefined) return verifyCheckpoint(note ?? '', key);
  return checkpoint === undefined || checkpoint.signatures.length === 0 ? 'missing' : 'unverified';
}

/** Only the daemon knows that it has written no CHECKPOINT yet: to anyone else, it is gone. */
export function neverWritten({ trusted, wsId }: VerifyOptions): ParsedCheckpoint | undefined {
  if (trusted === undefined || wsId === undefined || (trusted.signedCount ?? trusted.count) > 0)
    return undefined;
  const indexHash = `sha256:${hash('sha256', '')}`;
  return { wsId, count: 0, head: genesisHash(wsId), indexHash, text: '', signatures: [] };
}

interface Before {
  readonly checkpoint: ParsedCheckpoint | undefined;
  readonly signature: Signature;
  readonly options: VerifyOptions;
}

/** What is wrong before the first receipt is looked at. */
export function faultBefore(
  content: FolderContent,
  { checkpoint, signature, options }: Before,
): Fault | undefined {
  const gone = content.checkpoint === undefined;
  if (checkpoint === undefined)
    return chainFault('checkpoint', gone ? 'CHECKPOINT is gone.' : 'CHECKPOINT is not what the format says.');
  if (!gone && options.key !== undefined && signature !== 'verified')
    return chainFault(
      'checkpoint',
      signature === 'missing' ? 'CHECKPOINT is not signed with this key.' : 'The signature is not right.',
    );
  if (options.wsId !== undefined && checkpoint.wsId !== options.wsId)
    return chainFault('workspace_id', `This is the chain of ${checkpoint.wsId}.`);
  if (content.stray !== undefined)
    return chainFault('file', `${JSON.stringify(content.stray)} does not belong in this folder.`);
  if (content.index === undefined && (checkpoint.count > 0 || content.receiptCount > 0))
    return chainFault('index', 'INDEX.jsonl is gone.');
  return undefined;
}

export interface IndexedChain extends ChainResult {
  readonly indexHash: string;
}

interface After {
  readonly content: FolderContent;
  readonly checkpoint: ParsedCheckpoint;
  readonly chain: IndexedChain;
  readonly options: VerifyOptions;
}

/** What is wrong where each receipt follows the one before. */
export async function faultAfter(folder: string, after: After): Promise<Fault | undefined> {
  const { content, checkpoint, chain } = after;
  const { checked: count, lastHash } = chain;
  if (content.receiptCount > count) {
    const receiptId = await firstUnindexed(folder, content);
    return { field: 'file', receipt_id: receiptId ?? null, seq: null, detail: notInIndex };
  }
  if (checkpoint.count > count)
    return chainFault(
      'checkpoint',
      `CHECKPOINT covers ${checkpoint.count} receipts, but there are only ${count}.`,
    );
  const marked = checkpoint.count === 0 ? genesisHash(checkpoint.wsId) : chain.markedHash;
  if (checkpoint.head !== marked)
    return chainFault('checkpoint', `CHECKPOINT has another hash for receipt ${checkpoint.count}.`);
  if (checkpoint.indexHash !== chain.indexHash)
    return chainFault(
      'checkpoint',
      `CHECKPOINT has another hash for the first ${checkpoint.count} index lines.`,
    );
  return faultBesides(after, { count, lastHash });
}

/** What others know of the chain: the daemon's own copy, and the caller. */
function faultBesides(
  { checkpoint, options }: After,
  { count, lastHash }: { count: number; lastHash: string },
): Fault | undefined {
  const { trusted, head } = options;
  if (trusted !== undefined && (trusted.count !== count || trusted.head !== lastHash))
    return chainFault(
      'checkpoint',
      `The daemon wrote ${trusted.count} receipts, to ${trusted.head}; here are ${count}, to ${lastHash}.`,
    );
  if (trusted?.signedCount !== undefined && checkpoint.count < trusted.signedCount)
    return chainFault(
      'checkpoint',
      `CHECKPOINT is an older one: it covers ${checkpoint.count} of ${trusted.signedCount} receipts.`,
    );
  if (head === undefined) return undefined;
  if (head !== lastHash)
    return chainFault('head', `The newest of ${count} receipts has the hash ${lastHash}.`);
  if (checkpoint.count !== count)
    return chainFault(
      'checkpoint',
      `CHECKPOINT covers ${checkpoint.count} of ${count} receipts: it is an older one.`,
    );
  return undefined;
}

const notInIndex =
  'The receipt has no line in INDEX.jsonl: it was added, or a daemon was killed here and has not been started again.';

export function chainFault(field: string, detail: string): Fault {
  return { field, receipt_id: null, seq: null, detail };
}
