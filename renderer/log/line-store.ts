import { type AnsiStyle, plainStyle, stripAnsi, styleAfter } from './ansi.ts';
import type { OutputStream } from './job-frames.ts';
import { continuedBit, kindMask, LineChunk, lineKind } from './line-chunk.ts';

export type StoreLimits = { maxLines: number; maxBytes: number; maxJoinedBytes: number };
export const storeLimits: StoreLimits = {
  maxLines: 1_500_000,
  maxBytes: 384 * 1024 * 1024,
  maxJoinedBytes: 256 * 1024,
};

export type StoredLine = {
  kind: 'stdout' | 'stderr' | 'gap';
  continued: boolean;
  /** For a gap: how many lines are missing. */
  number: number;
  style: AnsiStyle;
  /** As it was sent, escapes included. */
  text: string;
  bytes: number;
};

/**
 * The output of one job, in rows from `first` to `end`. Rows keep their index when older ones are dropped at the
 * limits; what is dropped goes by whole chunks.
 */
export class LineStore {
  first = 0;
  end = 0;
  /** Bytes of the longest line so far: how wide the view must be. */
  widest = 0;
  /** Called with a row whose text changed after it was added. */
  onRowGrown: (row: number) => void = () => {};
  readonly #limits: StoreLimits;
  #chunks: LineChunk[] = [];
  /** `chunkStarts[i]` is the row that `chunks[i]` begins with. */
  #chunkStarts: number[] = [];
  #sealedBytes = 0;
  #lastNumber = 0;
  #missing = 0;
  readonly #styles = new StyleTable();
  #styleNow = { stdout: 0, stderr: 0 };

  constructor(limits: StoreLimits = storeLimits) {
    this.#limits = limits;
  }

  /** Lines of the command's output so far, those in gaps included. */
  get lines(): number {
    return this.#lastNumber;
  }

  /** Of those, how many are in gaps. */
  get missing(): number {
    return this.#missing;
  }

  appendPlain(stream: OutputStream, bytes: Uint8Array, start: number, end: number): void {
    const chunk = this.#room();
    chunk.begin(++this.#lastNumber, lineKind[stream], this.#styleNow[stream]);
    chunk.write(bytes, start, end);
    this.#added(end - start);
  }

  appendText(stream: OutputStream, raw: string, partial: boolean): void {
    const line = afterCarriageReturn(raw);
    const bytes = encoder.encode(line);
    if (partial && this.#join(stream, line, bytes)) return;
    const chunk = this.#room();
    if (!partial) this.#lastNumber++;
    chunk.begin(this.#lastNumber, lineKind[stream] | (partial ? continuedBit : 0), this.#styleNow[stream]);
    chunk.write(bytes, 0, bytes.length);
    this.#noteEscapes(chunk, stream, line);
    this.#added(bytes.length);
  }

  /** A row that stands for `lines` lines which the daemon no longer had. */
  appendGap(lines: number): void {
    const chunk = this.#room();
    chunk.begin(lines, lineKind.gap, 0);
    chunk.write(
      encoder.encode(`[${lines} lines not kept]`),
      0,
      encoder.encode(`[${lines} lines not kept]`).length,
    );
    this.#lastNumber += lines;
    this.#missing += lines;
    this.#added(0);
  }

  /** `maxBytes` bounds how much of a long line is read. */
  line(row: number, maxBytes = Number.POSITIVE_INFINITY): StoredLine | undefined {
    if (row < this.first || row >= this.end) return undefined;
    const index = this.#chunkOf(row);
    const chunk = this.#chunks[index];
    if (chunk === undefined) return undefined;
    const at = row - (this.#chunkStarts[index] ?? 0);
    const [start, end] = chunk.range(at);
    const flags = chunk.flags[at] ?? 0;
    const kind = flags & kindMask;
    return {
      kind: kind === lineKind.gap ? 'gap' : kind === lineKind.stderr ? 'stderr' : 'stdout',
      continued: (flags & continuedBit) !== 0,
      number: chunk.numbers[at] ?? 0,
      style: this.#styles.get(chunk.styles[at] ?? 0),
      text: decoder.decode(chunk.bytes.subarray(start, Math.min(end, start + maxBytes))),
      bytes: end - start,
    };
  }

  /**
   * The visible text of the chunk that holds `row`, LF after every line, from `row` on, and the row after it.
   * Reading by chunks keeps long work (search, copy) in slices of a few milliseconds.
   */
  chunkText(row: number): { text: string; next: number } {
    const index = this.#chunkOf(row);
    const chunk = this.#chunks[index];
    if (chunk === undefined) return { text: '', next: this.end };
    const chunkStart = this.#chunkStarts[index] ?? 0;
    const text = decoder.decode(chunk.bytes.subarray(chunk.range(row - chunkStart)[0], chunk.size));
    return { text: chunk.hasEscapes ? stripAnsi(text) : text, next: chunkStart + chunk.count };
  }

  #room(): LineChunk {
    const last = this.#chunks.at(-1);
    if (last !== undefined && !last.full) return last;
    if (last !== undefined) {
      last.seal();
      this.#sealedBytes += last.size;
    }
    const chunk = new LineChunk();
    this.#chunks.push(chunk);
    this.#chunkStarts.push(this.end);
    this.#dropOldest();
    return chunk;
  }

  #added(bytes: number): void {
    this.end++;
    if (bytes > this.widest) this.widest = bytes;
  }

  #join(stream: OutputStream, line: string, bytes: Uint8Array): boolean {
    const chunk = this.#chunks.at(-1);
    if (chunk === undefined || chunk.count === 0) return false;
    const at = chunk.count - 1;
    if (((chunk.flags[at] ?? 0) & kindMask) !== lineKind[stream]) return false;
    const [start, end] = chunk.range(at);
    if (end - start + bytes.length > this.#limits.maxJoinedBytes) return false;
    chunk.reopenLast();
    chunk.write(bytes, 0, bytes.length);
    this.#noteEscapes(chunk, stream, line);
    this.widest = Math.max(this.widest, end - start + bytes.length);
    this.onRowGrown(this.end - 1);
    return true;
  }

  #noteEscapes(chunk: LineChunk, stream: OutputStream, line: string): void {
    if (!hasControl.test(line)) return;
    chunk.hasEscapes = true;
    this.#styleNow[stream] = this.#styles.idOf(styleAfter(line, this.#styles.get(this.#styleNow[stream])));
  }

  #dropOldest(): void {
    for (;;) {
      const [oldest] = this.#chunks;
      const over = this.end - this.first > this.#limits.maxLines || this.#sealedBytes > this.#limits.maxBytes;
      if (!over || oldest === undefined || this.#chunks.length < 3) return;
      this.#chunks.shift();
      this.#chunkStarts.shift();
      this.#sealedBytes -= oldest.size;
      this.first += oldest.count;
    }
  }

  #chunkOf(row: number): number {
    let low = 0;
    let high = this.#chunkStarts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#chunkStarts[middle] ?? 0) <= row) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const hasControl = /(?!\t)\p{Cc}/u;

/** A terminal would overwrite what stands before a carriage return: progress bars show their last state. */
function afterCarriageReturn(line: string): string {
  if (!line.includes('\r')) return line;
  const trimmed = line.replace(/\r+$/, '');
  return trimmed.slice(trimmed.lastIndexOf('\r') + 1);
}

/** Numbers for styles, so that a line needs two bytes for the one it begins in. */
class StyleTable {
  readonly #styles: AnsiStyle[] = [plainStyle];
  readonly #ids = new Map<string, number>([[styleKey(plainStyle), 0]]);

  get(id: number): AnsiStyle {
    return this.#styles[id] ?? plainStyle;
  }

  /** 0 once all 65,536 numbers are taken: a line of such output begins unstyled. */
  idOf(style: AnsiStyle): number {
    const key = styleKey(style);
    const known = this.#ids.get(key);
    if (known !== undefined) return known;
    if (this.#styles.length > 0xffff) return 0;
    this.#styles.push(style);
    this.#ids.set(key, this.#styles.length - 1);
    return this.#styles.length - 1;
  }
}

function styleKey(style: AnsiStyle): string {
  return `${style.fg},${style.bg},${style.attributes}`;
}
