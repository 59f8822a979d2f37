import type { Fault } from '../../contract/receipts.ts';
import { type IndexLine, parseIndexLine } from './index-line.ts';
import { type NamedFault, nameFault } from './name-fault.ts';
import { ReceiptBytes } from './receipt-bytes.ts';

/** What the place in the chain demands of a receipt. */
export interface Place {
  /** Position in the chain, from 1. */
  readonly seq: number;
  /** self_hash of the receipt before; of the first, the genesis hash of its workspace. */
  readonly prevHash: string;
  /** Not compared where it is not known. */
  readonly wsId?: string;
  /** The receipt's line of INDEX.jsonl, with or without its LF. */
  readonly indexLine: string;
}

export interface CheckedReceipt {
  readonly selfHash: string;
  readonly receiptId: string;
}

/**
 * Judges the bytes of one receipt's file, strictly, in the order that docs/receipts.md gives. Answers its hash, or the
 * first fault with the very field. Pure.
 */
export function checkReceipt(bytes: Buffer, place: Place): CheckedReceipt | Fault {
  const text = place.indexLine.endsWith('\n') ? place.indexLine : `${place.indexLine}\n`;
  const rawLine = Buffer.from(text);
  const line = checkIndexLine(rawLine, place.seq);
  if ('field' in line) return line;
  const { receipt_id: receiptId } = line;
  const receipt = new ReceiptBytes();
  const named = faultIn(receipt, { bytes, line, rawLine, place });
  if (named === undefined) return { selfHash: line.self_hash, receiptId };
  if (named.field === 'index') return indexFault(place.seq, named.detail);
  return { field: named.field, receipt_id: receiptId, seq: place.seq, detail: named.detail };
}

/** `rawLine` with its LF. The line in its parsed form, or what is wrong with it, seen without its receipt. */
export function checkIndexLine(rawLine: Buffer, seq: number): IndexLine | Fault {
  const line = parseIndexLine(rawLine);
  if (line === undefined) return indexFault(seq, 'The line is not what the format says.');
  return line.seq === seq ? line : indexFault(seq, `The line says that it is number ${line.seq}.`);
}

function indexFault(seq: number, detail: string): Fault {
  return { field: 'index', receipt_id: null, seq, detail: `Line ${seq} of INDEX.jsonl: ${detail}` };
}

interface Case {
  readonly bytes: Buffer;
  readonly line: IndexLine;
  readonly rawLine: Buffer;
  readonly place: Place;
}

function faultIn(receipt: ReceiptBytes, { bytes, line, rawLine, place }: Case): NamedFault | undefined {
  if (!receipt.read(bytes, bytes.length))
    return (
      nameFault(bytes, line) ?? {
        field: 'canonical_form',
        detail: 'The values are right, but the bytes are not their canonical form.',
      }
    );
  const selfHash = receipt.hash();
  if (receipt.raw('self_hash') !== `"${selfHash}"`)
    return nameFault(bytes, line) ?? { field: 'self_hash', detail: 'It is not the hash of the receipt.' };
  const misplaced = receipt.misplaced({ ...place, receiptId: line.receipt_id });
  if (misplaced !== undefined)
    return { field: misplaced, detail: `The value of ${misplaced} does not fit the place in the chain.` };
  if (receipt.indexLine() === rawLine.toString('latin1')) return undefined;
  // The receipt is sound in itself. With the hash that the index has it is the original, and the index was changed.
  const named = line.self_hash === selfHash ? undefined : nameFault(bytes, line);
  if (named !== undefined && named.field !== 'self_hash') return named;
  return { field: 'index', detail: 'The line does not fit its receipt.' };
}
