import { readSync } from 'node:fs';
import type { Fault } from '../../contract/receipts.ts';
import { checkIndexLine, checkReceipt } from './check-receipt.ts';
import { maxIndexLineBytes, parseIndexLine, receiptIdPattern } from './index-line.ts';
import { PlainFileReader } from './plain-file-reader.ts';
import { ReceiptBytes } from './receipt-bytes.ts';

/** Where a receipt stands in the chain: its position, and the hash of the one before. */
export interface ChainPlace {
  readonly seq: number;
  readonly prevHash: string;
}

/** The receipts whose index lines begin in a range of bytes of INDEX.jsonl. */
export interface RangeTask {
  readonly folder: string;
  /** A file descriptor; threads of a process share them. */
  readonly index: number;
  /** Bytes of the index that are looked at: what is appended later is not. */
  readonly indexSize: number;
  readonly start: number;
  readonly end: number;
  readonly wsId: string;
  /** The first line's place; without it, what the line itself says, which whoever joins the ranges must compare. */
  readonly from?: ChainPlace;
  /** Lines up to this position are signed as they are, so that their field digests need not be made again. */
  readonly signedLines: number;
  /** The hash of the receipt at this position is told. */
  readonly markSeq: number;
}

export interface RangeResult {
  /** Undefined where no line begins in the range, or the first says nothing that could be taken as its place. */
  readonly from: ChainPlace | undefined;
  readonly receipts: number;
  /** self_hash of the last receipt that was found right. */
  readonly lastHash: string | undefined;
  readonly markedHash: string | undefined;
  readonly fault: Fault | undefined;
}

const lineFeed = 0x0a;

/** What stands behind the field digests has some 320 bytes; where it has more, the slow way judges the line. */
const signedTailBytes = 512;

/** Verifies one range after the other, with buffers that are used again. Sync calls: for a thread of its own. */
export class RangeVerifier {
  readonly #receipt = new ReceiptBytes();
  readonly #files = new PlainFileReader();
  #lines: Buffer = Buffer.alloc(0);

  /** Ends at the first fault. */
  verify(task: RangeTask): RangeResult {
    const lines = this.#readLines(task);
    let from = task.from;
    let receipts = 0;
    let lastHash: string | undefined;
    let markedHash: string | undefined;
    let fault: Fault | undefined;
    for (const line of lines) {
      from ??= statedPlace(line);
      const seq = (from?.seq ?? 0) + receipts;
      const prevHash = lastHash ?? from?.prevHash ?? '';
      const checked = this.#check(task, line, { seq, prevHash });
      if (typeof checked !== 'string') {
        fault = checked;
        break;
      }
      receipts += 1;
      lastHash = checked;
      if (seq === task.markSeq) markedHash = checked;
    }
    return { from, receipts, lastHash, markedHash, fault };
  }

  /** The hash of a receipt that is right. */
  #check(task: RangeTask, line: Buffer, place: ChainPlace): string | Fault {
    return this.#checkFast(task, line, place) ?? this.#checkWithReason(task, line, place);
  }

  /** Undefined where anything at all is not as it should be: then the slow way finds what it is. */
  #checkFast({ folder, wsId, signedLines }: RangeTask, line: Buffer, place: ChainPlace): string | undefined {
    const signed = place.seq <= signedLines;
    const text = line.toString('latin1', signed ? Math.max(0, line.length - signedTailBytes) : 0);
    const receiptId = lastReceiptId(text);
    if (receiptId === undefined) return undefined;
    const read = this.#files.read(`${folder}/${receiptId}.json`);
    if ('problem' in read || !this.#receipt.read(read.buffer, read.length)) return undefined;
    const selfHash = this.#receipt.hash();
    if (this.#receipt.raw('self_hash') !== `"${selfHash}"`) return undefined;
    if (this.#receipt.misplaced({ ...place, receiptId, wsId }) !== undefined) return undefined;
    const fits = signed
      ? startsWith(line, this.#receipt.indexLineStart()) && text.endsWith(this.#receipt.indexLineEnd())
      : text === this.#receipt.indexLine();
    return fits ? selfHash : undefined;
  }

  #checkWithReason({ folder, wsId }: RangeTask, rawLine: Buffer, place: ChainPlace): string | Fault {
    const line = checkIndexLine(rawLine, place.seq);
    if ('field' in line) return line;
    const read = this.#files.read(`${folder}/${line.receipt_id}.json`);
    if ('problem' in read)
      return { field: 'file', receipt_id: line.receipt_id, seq: place.seq, detail: read.problem };
    const bytes = read.buffer.subarray(0, read.length);
    const checked = checkReceipt(bytes, { ...place, wsId, indexLine: rawLine.toString() });
    return 'field' in checked ? checked : checked.selfHash;
  }

  /** The lines that begin in the range, each with its LF; the last of a torn index without. */
  *#readLines({ index, indexSize, start, end }: RangeTask): Generator<Buffer> {
    // One byte more in front tells whether a line begins at `start`; behind, the last line may end beyond `end`.
    const first = Math.max(0, start - 1);
    const size = Math.min(indexSize, end + maxIndexLineBytes + 1) - first;
    if (this.#lines.length < size) this.#lines = Buffer.allocUnsafeSlow(size);
    const length = readAt(index, this.#lines, size, first);
    const lines = this.#lines.subarray(0, length);
    let at = start === 0 ? 0 : lines.indexOf(lineFeed) + 1;
    if (start > 0 && at === 0) return;
    while (at < length && first + at < end) {
      const found = lines.indexOf(lineFeed, at);
      const lineEnd = found < 0 ? length : found + 1;
      yield lines.subarray(at, lineEnd);
      at = lineEnd;
    }
  }
}

/** Less than `size` bytes where the file has become shorter. */
export function readAt(file: number, buffer: Buffer, size: number, position: number): number {
  let length = 0;
  while (length < size) {
    const count = readSync(file, buffer, length, size - length, position + length);
    if (count === 0) break;
    length += count;
  }
  return length;
}

function startsWith(line: Buffer, text: string): boolean {
  return line.toString('latin1', 0, text.length) === text;
}

/** The fields object, which has a receipt_id too, stands before. */
function lastReceiptId(line: string): string | undefined {
  const name = '"receipt_id":"';
  const start = line.lastIndexOf(name) + name.length;
  const receiptId = line.slice(start, line.indexOf('"', start));
  return receiptIdPattern.test(receiptId) ? receiptId : undefined;
}

function statedPlace(rawLine: Buffer): ChainPlace | undefined {
  const line = parseIndexLine(rawLine);
  return line === undefined ? undefined : { seq: line.seq, prevHash: line.prev_receipt_hash };
}
