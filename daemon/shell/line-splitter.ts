import { isUtf8 } from 'node:buffer';
import { maxLineBytes } from '../contract/shell.ts';
import { cutAtCharacter, type FrameLog, toUtf8 } from './frame-log.ts';

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const nothing = Buffer.alloc(0);

/**
 * Cuts the bytes of one output stream into lines and has the log make frames of them. A line that is not complete yet
 * is kept until it is, or until it is longer than a frame may carry.
 */
export class LineSplitter {
  readonly #log: FrameLog;
  readonly #prefix: Uint8Array;
  /** Bytes of a line that has not ended are the first `#held` of this; at most `maxLineBytes` and one carriage return. */
  #rest: Buffer = nothing;
  #held = 0;
  /** Whether frames of the unfinished line are out already. */
  #continues = false;

  constructor(log: FrameLog, stream: 'stdout' | 'stderr') {
    this.#log = log;
    this.#prefix = Buffer.from(`\ndata: {"type":"${stream}","line":"`);
  }

  push(chunk: Buffer): void {
    const firstEnd = chunk.indexOf(lineFeed);
    if (firstEnd < 0) {
      this.#keep(chunk);
      return;
    }
    let from = 0;
    if (this.#held > 0) {
      this.#keep(chunk.subarray(0, firstEnd));
      this.#endLine(this.#rest.subarray(0, this.#held));
      from = firstEnd + 1;
    }
    const to = chunk.lastIndexOf(lineFeed) + 1;
    if (to > from) this.#wholeLines(chunk, from, to);
    if (to < chunk.length) this.#keep(chunk.subarray(to));
  }

  /** The stream has ended: a last line without a line feed is a line too. */
  end(): void {
    if (this.#held > 0) this.#endLine(this.#rest.subarray(0, this.#held));
  }

  #wholeLines(chunk: Buffer, from: number, to: number): void {
    const lines = chunk.subarray(from, to);
    // A line inside one chunk is shorter than the chunk; longer chunks than a line may be are rare, and cut line by line.
    if (lines.length <= maxLineBytes && isUtf8(lines)) this.#log.appendLines(this.#prefix, chunk, from, to);
    else this.#lineByLine(lines);
  }

  #lineByLine(lines: Buffer): void {
    for (let from = 0; from < lines.length; ) {
      const end = lines.indexOf(lineFeed, from);
      this.#endLine(lines.subarray(from, end));
      from = end + 1;
    }
  }

  #endLine(line: Buffer): void {
    const text = line.at(-1) === carriageReturn ? line.subarray(0, -1) : line;
    this.#emit(toUtf8(text));
    this.#held = 0;
    this.#continues = false;
  }

  /** Frames for all of `text`, which is UTF-8; every one after the line's first is marked partial. */
  #emit(text: Buffer): void {
    for (let from = 0; from < text.length || from === 0; ) {
      const size = cutAtCharacter(text.subarray(from));
      this.#log.appendLine(this.#prefix, text.subarray(from, from + size), this.#continues);
      this.#continues = true;
      from += size;
      if (size === 0) return;
    }
  }

  /** Keeps an unfinished line. The copy is deliberate: a slice would hold the whole chunk in memory. */
  #keep(bytes: Buffer): void {
    if (this.#held + bytes.length > this.#rest.length) this.#grow(this.#held + bytes.length);
    this.#rest.set(bytes, this.#held);
    this.#held += bytes.length;
    let from = 0;
    while (exceedsFrame(this.#rest, from, this.#held)) {
      const size = cutAtCharacter(this.#rest.subarray(from, this.#held));
      this.#emit(toUtf8(this.#rest.subarray(from, from + size)));
      from += size;
    }
    if (from === 0) return;
    this.#rest.copyWithin(0, from, this.#held);
    this.#held -= from;
  }

  /** Doubles, so that a line that comes byte by byte is not copied each time. */
  #grow(needed: number): void {
    const larger = Buffer.allocUnsafe(Math.max(needed, 2 * this.#rest.length, 256));
    this.#rest.copy(larger, 0, 0, this.#held);
    this.#rest = larger;
  }
}

/** A carriage return just over the limit may be half of the line's CRLF: it waits for what follows. */
function exceedsFrame(rest: Buffer, from: number, to: number): boolean {
  const length = to - from;
  return length > maxLineBytes + 1 || (length === maxLineBytes + 1 && rest[to - 1] !== carriageReturn);
}
