export const linesPerChunk = 4096;

export const lineKind = { stdout: 0, stderr: 1, gap: 2 } as const;
export const kindMask = 3;
/** The row goes on with the line of the row above. */
export const continuedBit = 4;

/**
 * Up to `linesPerChunk` lines as UTF-8 in one buffer, each followed by LF. Packed, a million lines cost their text
 * and eleven bytes each; as strings they would cost several times that and stop the page while they are collected.
 */
export class LineChunk {
  count = 0;
  /** Bytes used, the LF after the last line included. */
  size = 0;
  hasEscapes = false;
  bytes = new Uint8Array(64 * 1024);
  readonly starts = new Uint32Array(linesPerChunk);
  /** The line's number in the job's output; for a gap, how many lines it stands for. */
  readonly numbers = new Uint32Array(linesPerChunk);
  readonly flags = new Uint8Array(linesPerChunk);
  /** The style each line begins in, as an index into the store's style table. */
  readonly styles = new Uint16Array(linesPerChunk);

  get full(): boolean {
    return this.count === linesPerChunk || this.size > maxChunkBytes;
  }

  begin(number: number, flags: number, style: number): void {
    this.starts[this.count] = this.size;
    this.numbers[this.count] = number;
    this.flags[this.count] = flags;
    this.styles[this.count] = style;
    this.count++;
  }

  /** Takes the last line's LF away, so that more can be written to it. */
  reopenLast(): void {
    this.size--;
  }

  write(source: Uint8Array, start: number, end: number): void {
    this.#reserve(end - start + 1);
    this.bytes.set(source.subarray(start, end), this.size);
    this.size += end - start;
    this.bytes[this.size++] = 10;
  }

  /** The range of line `at` in `bytes`, without its LF. */
  range(at: number): [number, number] {
    const next = at + 1 < this.count ? this.starts[at + 1] : this.size;
    return [this.starts[at] ?? 0, (next ?? this.size) - 1];
  }

  /** Gives back what the buffer has over, once nothing more will be written. */
  seal(): void {
    this.bytes = this.bytes.slice(0, this.size);
  }

  #reserve(more: number): void {
    if (this.size + more <= this.bytes.length) return;
    const grown = new Uint8Array(Math.max(this.bytes.length * 2, this.size + more));
    grown.set(this.bytes.subarray(0, this.size));
    this.bytes = grown;
  }
}

const maxChunkBytes = 1024 * 1024;
