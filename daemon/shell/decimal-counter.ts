const nine = 0x39;
const label = 'id: ';
const maxBytes = 24;

/** Counts from 1 and keeps `id: ` and the digits as bytes, so that numbering a million frames builds no strings. */
export class DecimalCounter {
  readonly #bytes = Buffer.alloc(maxBytes);
  readonly #view = new DataView(this.#bytes.buffer, this.#bytes.byteOffset, maxBytes);
  #length = 0;
  #value = 1;

  constructor() {
    this.#render();
  }

  get value(): number {
    return this.#value;
  }

  /** Writes label and digits at `offset`, counts one on, returns the offset after them; may write 3 bytes past that. */
  writeHead(out: DataView, offset: number): number {
    const length = this.#length;
    const view = this.#view;
    for (let i = 0; i < length; i += 4) out.setInt32(offset + i, view.getInt32(i));
    this.#step();
    return offset + length;
  }

  #step(): void {
    this.#value += 1;
    const bytes = this.#bytes;
    const last = this.#length - 1;
    const digit = bytes[last] as number;
    if (digit === nine) this.#render();
    else bytes[last] = digit + 1;
  }

  /** One count in ten; a string each is then cheap. */
  #render(): void {
    this.#length = this.#bytes.write(`${label}${this.#value}`, 'latin1');
  }
}
