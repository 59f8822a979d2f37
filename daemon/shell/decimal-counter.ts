const zero = 0x30;
const nine = 0x39;
const lastDigit = 15;

/** Counts from 1 and keeps its ASCII digits ready, so that numbering a million frames builds no strings. */
export class DecimalCounter {
  readonly #digits = new Uint8Array(lastDigit + 1).fill(zero);
  #first = lastDigit;
  #value = 1;

  constructor() {
    this.#digits[lastDigit] = zero + 1;
  }

  get value(): number {
    return this.#value;
  }

  /** Writes the digits at `offset`, counts one on, and returns the offset after them. */
  writeAndStep(out: Buffer, offset: number): number {
    const digits = this.#digits;
    let write = offset;
    for (let i = this.#first; i <= lastDigit; i += 1) out[write++] = digits[i] as number;
    this.#step();
    return write;
  }

  #step(): void {
    this.#value += 1;
    let place = lastDigit;
    while (this.#digits[place] === nine) {
      this.#digits[place] = zero;
      place -= 1;
    }
    this.#digits[place] = (this.#digits[place] as number) + 1;
    if (place < this.#first) this.#first = place;
  }
}
