import { hash } from 'node:crypto';
import { fieldDigest } from '../receipt-format.ts';
import { CanonicalScanner } from './canonical-scanner.ts';
import { receiptIdPattern } from './index-line.ts';

/** The fields that a verifier itself compares with the place in the chain, in this order. */
export type PlacedField = 'receipt_id' | 'seq' | 'workspace_id' | 'prev_receipt_hash';

const maxRememberedBytes = 128;

export interface Placement {
  readonly receiptId: string;
  readonly seq: number;
  readonly prevHash: string;
  readonly wsId?: string;
}

/**
 * The bytes of one receipt's file, looked at without parsing: pieces are compared as they are written. One instance is
 * used for many receipts, so that verifying 100,000 of them makes no garbage of their size.
 */
export class ReceiptBytes {
  readonly #scanner = new CanonicalScanner();
  /** By position in the receipt: half of the fields have the value that they had in the receipt before. */
  readonly #remembered: { readonly raw: string; readonly digest: string }[] = [];
  readonly #places = new Map<string, number>();
  #bytes: Buffer = Buffer.alloc(0);
  #rest: Buffer = Buffer.allocUnsafe(64 * 1024);
  #length = 0;
  #selfHashAt = -1;

  /** Takes the first `length` bytes. False where they are not canonical, or have no self_hash. */
  read(bytes: Buffer, length: number): boolean {
    this.#bytes = bytes;
    this.#length = length;
    this.#selfHashAt = -1;
    if (!this.#scanner.scan(bytes, length)) return false;
    this.#selfHashAt = this.#find('self_hash');
    return this.#selfHashAt >= 0;
  }

  /** The bytes of a field's canonical form, as latin1; `null` where the field is missing, which no text equals. */
  raw(name: string): string {
    const at = this.#find(name);
    if (at < 0) return 'null';
    return this.#bytes.toString('latin1', this.#scanner.valueStart(at), this.#scanner.valueEnd(at));
  }

  /** `sha256:…` over the canonical form without the member self_hash. */
  hash(): string {
    let start = this.#scanner.keyStart(this.#selfHashAt);
    let end = this.#scanner.valueEnd(this.#selfHashAt);
    // One of the commas goes with it.
    if (this.#selfHashAt > 0) start -= 1;
    else if (this.#scanner.memberCount > 1) end += 1;
    // Without the LF.
    const length = this.#length - 1 - (end - start);
    if (this.#rest.length < length) this.#rest = Buffer.allocUnsafe(2 * length);
    this.#bytes.copy(this.#rest, 0, 0, start);
    this.#bytes.copy(this.#rest, start, end, this.#length - 1);
    return `sha256:${hash('sha256', this.#rest.subarray(0, length))}`;
  }

  /** The first field that does not fit the place. */
  misplaced({ receiptId, seq, prevHash, wsId }: Placement): PlacedField | undefined {
    if (this.raw('receipt_id') !== `"${receiptId}"` || !isAtPosition(receiptId, seq)) return 'receipt_id';
    if (this.raw('seq') !== String(seq)) return 'seq';
    if (wsId !== undefined && this.raw('workspace_id') !== `"${wsId}"`) return 'workspace_id';
    if (this.raw('prev_receipt_hash') !== `"${prevHash}"`) return 'prev_receipt_hash';
    return undefined;
  }

  /** The line of INDEX.jsonl that belongs to these bytes, as latin1 and with its LF. */
  indexLine(): string {
    let digests = '';
    for (let at = 0; at < this.#scanner.memberCount; at += 1) {
      digests += `${at === 0 ? '' : ','}"${this.#scanner.name(at)}":"${this.#digest(at)}"`;
    }
    return this.indexLineStart() + digests + this.indexLineEnd();
  }

  /** What of that line stands before the field digests, and after them. */
  indexLineStart(): string {
    return `{"action":${this.raw('action')},"fields":{`;
  }

  indexLineEnd(): string {
    const link = `},"prev_receipt_hash":${this.raw('prev_receipt_hash')},"receipt_id":${this.raw('receipt_id')}`;
    const run = `,"run_id":${this.raw('run_id')},"self_hash":${this.raw('self_hash')}`;
    return `${link}${run},"seq":${this.raw('seq')},"timestamp":${this.raw('timestamp')}}\n`;
  }

  #digest(at: number): string {
    const start = this.#scanner.valueStart(at);
    const end = this.#scanner.valueEnd(at);
    if (end - start > maxRememberedBytes) return fieldDigest(this.#bytes.subarray(start, end));
    const raw = this.#bytes.toString('latin1', start, end);
    const remembered = this.#remembered[at];
    if (remembered?.raw === raw) return remembered.digest;
    const digest = fieldDigest(this.#bytes.subarray(start, end));
    this.#remembered[at] = { raw, digest };
    return digest;
  }

  /** Receipts have mostly the same fields, so a name is looked for first where it was in the one before. */
  #find(name: string): number {
    const count = this.#scanner.memberCount;
    const before = this.#places.get(name);
    if (before !== undefined && before < count && this.#scanner.isNamed(before, name)) return before;
    for (let at = 0; at < count; at += 1) {
      if (!this.#scanner.isNamed(at, name)) continue;
      this.#places.set(name, at);
      return at;
    }
    return -1;
  }
}

function isAtPosition(receiptId: string, seq: number): boolean {
  return Number(receiptIdPattern.exec(receiptId)?.[1]) === seq;
}
