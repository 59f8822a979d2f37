import { hash } from 'node:crypto';
import type { ReceiptId } from '../contract/ids.ts';
import type { Receipt } from '../contract/receipts.ts';
import { canonicalJson, sortedMembers } from '../lib/canonical-json.ts';
import { takeRandom } from '../lib/ids.ts';

/** A larger receipt is refused, so that a verifier knows what it has to hold. */
export const maxReceiptBytes = 256 * 1024 * 1024;

const maxSeq = 99_999_999;

export interface SealedReceipt {
  readonly receipt: Receipt;
  /** What the receipt's file holds: the canonical form and one LF. */
  readonly bytes: Buffer;
  readonly selfHash: string;
  /** The receipt's line of INDEX.jsonl, its LF included. */
  readonly indexLine: string;
}

/**
 * Gives a receipt its `self_hash`, and makes the bytes of its file and its index line (docs/receipts.md). Throws
 * `TypeError` for what has no canonical form (a lone surrogate, `undefined`, a number that is not finite) and
 * `RangeError` for a receipt over 256 MiB. Fields that the contract does not know are kept.
 */
export function sealReceipt(draft: Omit<Receipt, 'self_hash'>): SealedReceipt {
  const { before, after } = canonicalPieces(draft);
  const selfHash = `sha256:${hash('sha256', `{${[...before.members, ...after.members].join(',')}}`)}`;
  const members = [...before.members, `"self_hash":"${selfHash}"`, ...after.members];
  const bytes = Buffer.from(`{${members.join(',')}}\n`);
  if (bytes.length > maxReceiptBytes) throw new RangeError('the receipt is over 256 MiB');
  const receipt: Receipt = { ...draft, self_hash: selfHash };
  const digests = [...before.digests, digestEntry('"self_hash"', `"${selfHash}"`), ...after.digests];
  return { receipt, bytes, selfHash, indexLine: indexLineOf(receipt, digests.join(',')) };
}

/** The hash that stands before a chain's first receipt. It differs by workspace, so chains can't be exchanged. */
export function genesisHash(wsId: string): string {
  return `sha256:${hash('sha256', `tallystick/genesis/v1\n${wsId}`)}`;
}

/**
 * The id of the receipt at position `seq` (from 1): date in UTC, position, and two random bytes. Throws `RangeError`
 * beyond position 99,999,999.
 */
export function receiptIdOf(seq: number, timestampMs: number, random: Uint8Array = takeRandom(2)): ReceiptId {
  if (!Number.isInteger(seq) || seq < 1 || seq > maxSeq) throw new RangeError(`no chain position: ${seq}`);
  const date = new Date(timestampMs).toISOString().slice(0, 10).replaceAll('-', '');
  const suffix = Buffer.from(random.subarray(0, 2)).toString('hex').padStart(4, '0');
  return `rcpt_${date}_${String(seq).padStart(8, '0')}${suffix}` as ReceiptId;
}

/** First 16 hexadecimal digits of the SHA-256 of a field's canonical form, given as text or as its UTF-8 bytes. */
export function fieldDigest(canonical: string | Uint8Array): string {
  return hash('sha256', canonical).slice(0, 16);
}

interface Pieces {
  readonly members: string[];
  readonly digests: string[];
}

/**
 * The members that sort before self_hash, and those after it. Every member is put in canonical form once: the file, the
 * digests and the hash are made from the same pieces.
 */
function canonicalPieces(draft: object): { before: Pieces; after: Pieces } {
  const before: Pieces = { members: [], digests: [] };
  const after: Pieces = { members: [], digests: [] };
  for (const [name, value] of sortedMembers(draft)) {
    if (name === 'self_hash') continue;
    const key = canonicalJson(name);
    const canonical = canonicalJson(value);
    const side = name < 'self_hash' ? before : after;
    side.members.push(`${key}:${canonical}`);
    side.digests.push(digestEntry(key, canonical));
  }
  return { before, after };
}

function digestEntry(key: string, canonical: string): string {
  return `${key}:"${fieldDigest(canonical)}"`;
}

function indexLineOf(receipt: Receipt, fields: string): string {
  const { action, prev_receipt_hash, receipt_id, run_id, self_hash, seq, timestamp } = receipt;
  const rest = canonicalJson({ prev_receipt_hash, receipt_id, run_id, self_hash, seq, timestamp });
  return `{"action":${canonicalJson(action)},"fields":{${fields}},${rest.slice(1)}\n`;
}
