import { isUtf8 } from 'node:buffer';
import { maxLineBytes } from '../contract/shell.ts';
import { DecimalCounter } from './decimal-counter.ts';
import type { Slab, SlabPool } from './slab-pool.ts';

/** A stretch of whole frames, by reference: the slab must be released when it was written. */
export interface Piece {
  readonly slab: Slab;
  readonly bytes: Buffer;
  /** Position after it, and the id of the frame there. */
  readonly end: number;
  readonly nextId: number;
}

const quote = 0x22;
const backslash = 0x5c;
const lineFeed = 0x0a;
const carriageReturn = 0x0d;
/** More than `id: <16 digits>\ndata: {"type":"stderr","line":"` and what ends a frame. */
const frameOverhead = 128;
/** A byte becomes at most six: a control character as \u00XX. */
const worstGrowth = 6;

const frameEnd = Buffer.from('"}\n\n');
const frameEndWord = frameEnd.readInt32LE();
const partialFrameEnd = Buffer.from('","partial":true}\n\n');

/** 0: stands for itself in a JSON string; 1: becomes \u00XX; else the letter after the backslash. */
const escapes = new Uint8Array(256);
escapes.fill(1, 0, 0x20);
for (const [byte, letter] of [
  [quote, '"'],
  [backslash, '\\'],
  [8, 'b'],
  [9, 't'],
  [10, 'n'],
  [12, 'f'],
  [13, 'r'],
] as const)
  escapes[byte] = letter.charCodeAt(0);
const hexDigits = Buffer.from('0123456789abcdef');

/**
 * A job's frames as the bytes of its event stream, encoded once and shared by all who read them: the newest few MiB are
 * kept. Frames are cut on bytes; a string, an object or a write per line would cost many times as much.
 */
export class FrameLog {
  readonly #pool: SlabPool;
  readonly #maxSlabs: number;
  readonly #slabs: Slab[] = [];
  readonly #counter = new DecimalCounter();
  #end = 0;

  constructor(pool: SlabPool, maxSlabs = 4) {
    this.#pool = pool;
    this.#maxSlabs = maxSlabs;
  }

  /** Position after the last frame. */
  get end(): number {
    return this.#end;
  }

  /** Position of the oldest frame that is kept. */
  get start(): number {
    return this.#slabs[0]?.base ?? this.#end;
  }

  /** Id that the next frame will have; the first has 1. */
  get nextId(): number {
    return this.#counter.value;
  }

  /** Id of the oldest frame that is kept; equals `nextId` when none is. */
  get firstId(): number {
    return this.#slabs[0]?.firstId ?? this.nextId;
  }

  /** One frame that is no output line: exit, error. */
  appendObject(frame: object): void {
    const json = Buffer.from(`\ndata: ${JSON.stringify(frame)}\n\n`);
    const slab = this.#room(json.length + frameOverhead);
    const offset = this.#writeHead(slab.bytes, slab.used);
    json.copy(slab.bytes, offset);
    this.#advance(slab, offset + json.length);
  }

  /**
   * Frames for the lines in `source[from, to)`, which ends with a line feed; its bytes must be UTF-8 and no line longer
   * than `maxLineBytes`. This is the hot loop: everything it needs is in local variables.
   */
  appendLines(prefix: Uint8Array, source: Buffer, from: number, to: number): void {
    let position = from;
    while (position < to) {
      const slab = this.#room(worstGrowth * (source.indexOf(lineFeed, position) - position) + frameOverhead);
      position = this.#fillSlab(slab, prefix, source, position, to);
    }
  }

  /** One frame for one line without its line feed, which must be UTF-8 and at most `maxLineBytes` long. */
  appendLine(prefix: Uint8Array, line: Buffer, partial: boolean): void {
    const slab = this.#room(worstGrowth * line.length + frameOverhead);
    let offset = this.#writeHead(slab.bytes, slab.used);
    slab.bytes.set(prefix, offset);
    offset = copyEscaped(line, slab.bytes, offset + prefix.length);
    const end = partial ? partialFrameEnd : frameEnd;
    slab.bytes.set(end, offset);
    this.#advance(slab, offset + end.length);
  }

  /** Frames from `position`, at most up to the end of a slab; undefined at the end of the log, or before its start. */
  read(position: number): Piece | undefined {
    const index = this.#slabs.findLastIndex((candidate) => candidate.base <= position);
    const slab = this.#slabs[index];
    if (slab === undefined || position >= slab.base + slab.used) return undefined;
    return {
      slab,
      bytes: slab.bytes.subarray(position - slab.base, slab.used),
      end: slab.base + slab.used,
      nextId: this.#slabs[index + 1]?.firstId ?? this.nextId,
    };
  }

  /** Position of the frame with this id; undefined when it is not kept, or not there yet. */
  positionOf(id: number): number | undefined {
    if (id === this.nextId) return this.#end;
    const slab = this.#slabs.findLast((candidate) => candidate.firstId <= id);
    if (slab === undefined || id > this.nextId) return undefined;
    let offset = 0;
    for (let frame = slab.firstId; frame < id; frame += 1) offset = slab.bytes.indexOf('\n\n', offset) + 2;
    return slab.base + offset;
  }

  /** Lets go of the oldest slabs over the limit, but of none that holds what is at or after `needed`. */
  trim(needed: number): void {
    while (this.#slabs.length > this.#maxSlabs) {
      const [oldest] = this.#slabs;
      if (oldest === undefined || oldest.base + oldest.used > needed) return;
      this.#slabs.shift();
      this.#pool.retire(oldest);
    }
  }

  /** Moves what little stands in a large slab to memory of its own size, for a log that is only kept to be read again. */
  compact(): void {
    const newest = this.#slabs.at(-1);
    if (newest === undefined || newest.used > newest.bytes.length / 2) return;
    const { base, firstId, used } = newest;
    const bytes = Buffer.from(newest.bytes.subarray(0, used));
    this.#slabs[this.#slabs.length - 1] = { bytes, base, firstId, used, inFlight: 0, retired: false };
    this.#pool.retire(newest);
  }

  /** Bytes of memory that it holds. */
  get heldBytes(): number {
    return this.#slabs.reduce((sum, slab) => sum + slab.bytes.length, 0);
  }

  /** Gives all memory back; nothing can be read afterwards. */
  clear(): void {
    for (const slab of this.#slabs.splice(0)) this.#pool.retire(slab);
  }

  #fillSlab(slab: Slab, prefix: Uint8Array, source: Buffer, from: number, to: number): number {
    const out = slab.bytes;
    const outView = viewOf(out);
    const sourceView = viewOf(source);
    const prefixView = viewOf(prefix);
    const prefixLength = prefix.length;
    const prefixWordsEnd = prefixLength - (prefixLength % 4);
    const capacity = out.length;
    let read = from;
    let write = slab.used;
    while (read < to) {
      // The cheap test mostly holds; only near the end of a slab is the line's own length looked up.
      if (capacity - write < worstGrowth * (to - read) + frameOverhead) {
        const lineBytes = source.indexOf(lineFeed, read) - read;
        if (capacity - write < worstGrowth * lineBytes + frameOverhead) break;
      }
      write = this.#counter.writeHead(outView, write);
      for (let i = 0; i < prefixWordsEnd; i += 4) outView.setInt32(write + i, prefixView.getInt32(i));
      for (let i = prefixWordsEnd; i < prefixLength; i += 1) out[write + i] = prefix[i] as number;
      write += prefixLength;
      for (;;) {
        while (read + 4 <= to) {
          const word = sourceView.getInt32(read, true);
          if (needsLook(word)) break;
          outView.setInt32(write, word, true);
          read += 4;
          write += 4;
        }
        let byte = source[read++] as number;
        let escaped = escapes[byte] as number;
        while (escaped === 0) {
          out[write++] = byte;
          byte = source[read++] as number;
          escaped = escapes[byte] as number;
        }
        if (byte === lineFeed) break;
        // The carriage return of a CRLF is no part of the line.
        if (byte !== carriageReturn || source[read] !== lineFeed)
          write = writeEscape(out, write, byte, escaped);
      }
      outView.setInt32(write, frameEndWord, true);
      write += 4;
    }
    this.#advance(slab, write);
    return read;
  }

  #writeHead(out: Buffer, offset: number): number {
    return this.#counter.writeHead(viewOf(out), offset);
  }

  /** The newest slab if it has room for `bytes`, else a new one. */
  #room(bytes: number): Slab {
    const newest = this.#slabs.at(-1);
    if (newest !== undefined && newest.bytes.length - newest.used >= bytes) return newest;
    const slab = this.#pool.take(this.#end, this.nextId, bytes);
    this.#slabs.push(slab);
    return slab;
  }

  #advance(slab: Slab, used: number): void {
    this.#end += used - slab.used;
    slab.used = used;
  }
}

function copyEscaped(source: Buffer, out: Buffer, offset: number): number {
  let write = offset;
  for (const byte of source) {
    const escaped = escapes[byte] as number;
    if (escaped === 0) out[write++] = byte;
    else write = writeEscape(out, write, byte, escaped);
  }
  return write;
}

function writeEscape(out: Buffer, offset: number, byte: number, escaped: number): number {
  out[offset] = backslash;
  if (escaped !== 1) {
    out[offset + 1] = escaped;
    return offset + 2;
  }
  out.write('u00', offset + 1, 'latin1');
  out[offset + 4] = hexDigits[byte >> 4] as number;
  out[offset + 5] = hexDigits[byte & 15] as number;
  return offset + 6;
}

/** The same bytes where they are UTF-8 (no copy), else a copy with U+FFFD for what is not. */
export function toUtf8(bytes: Buffer): Buffer {
  return isUtf8(bytes) ? bytes : Buffer.from(bytes.toString('utf8'));
}

/** Longest prefix of `bytes` of at most `maxLineBytes` that splits no UTF-8 sequence. */
export function cutAtCharacter(bytes: Buffer): number {
  if (bytes.length <= maxLineBytes) return bytes.length;
  let cut = maxLineBytes;
  while (cut > maxLineBytes - 4 && ((bytes[cut] as number) & 0xc0) === 0x80) cut -= 1;
  // Four continuation bytes in a row are no UTF-8 at all: any place is as good.
  return cut > maxLineBytes - 4 ? cut : maxLineBytes;
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
}

/** Whether any of four bytes is below 0x20, a quote or a backslash: at times yes where none is, never a false no. */
function needsLook(word: number): boolean {
  const quotes = word ^ 0x22222222;
  const backslashes = word ^ 0x5c5c5c5c;
  const hits =
    ((word - 0x20202020) & ~word) |
    ((quotes - 0x01010101) & ~quotes) |
    ((backslashes - 0x01010101) & ~backslashes);
  return (hits & 0x80808080) !== 0;
}
