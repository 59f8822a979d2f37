/**
 * Byte patterns in one block of memory, sorted by their bytes, each once: all that begin alike stand together. Every
 * pattern takes its own bytes and 8 more. Positions are positions in that order.
 */
export class SortedPatterns {
  readonly size: number;
  readonly longest: number;
  readonly shortest: number;
  readonly bytes: Uint8Array;
  /** Where each begins in `bytes`, and where the last ends. */
  readonly starts: Int32Array;
  /** The longest other pattern that each begins with; -1 where there is none. */
  readonly #prefixes: Int32Array;
  #compared = 0;

  /** `sorted` without duplicates. */
  constructor(sorted: readonly Uint8Array[]) {
    this.size = sorted.length;
    this.starts = new Int32Array(sorted.length + 1);
    let end = 0;
    let longest = 0;
    let shortest = Number.POSITIVE_INFINITY;
    sorted.forEach(({ length }, position) => {
      end += length;
      longest = Math.max(longest, length);
      shortest = Math.min(shortest, length);
      this.starts[position + 1] = end;
    });
    this.longest = longest;
    this.shortest = shortest;
    this.bytes = new Uint8Array(end);
    sorted.forEach((pattern, position) => {
      this.bytes.set(pattern, this.starts[position]);
    });
    this.#prefixes = this.#findPrefixes();
  }

  /** Bytes that were looked at so far to tell patterns from text: what bounds on work are held against. */
  get comparedBytes(): number {
    return this.#compared;
  }

  *[Symbol.iterator](): Generator<Uint8Array> {
    for (let position = 0; position < this.size; position += 1)
      yield this.bytes.subarray(this.starts[position], this.starts[position + 1]);
  }

  /** Length of the longest pattern among those from `first` to before `end` that stands in `text` at `at`; 0 for none. */
  longestAt(first: number, end: number, text: Uint8Array, at: number): number {
    let position = this.#after(first, end, text, at) - 1;
    if (position < first) return 0;
    // All patterns that the text begins with are prefixes of the last one that does not come after it.
    const common = this.#common(position, text, at);
    while (position >= first && this.#length(position) > common) position = this.#prefixes[position] ?? -1;
    return position < first ? 0 : this.#length(position);
  }

  /** Whether the text from `at` to its end is the beginning of one of these patterns, and not all of it. */
  isUnfinishedAt(first: number, end: number, text: Uint8Array, at: number): boolean {
    const position = this.#after(first, end, text, at);
    return position < end && this.#common(position, text, at) === text.length - at;
  }

  /** The first of these patterns that comes after the text from `at`; the text's own beginnings do not. */
  #after(first: number, end: number, text: Uint8Array, at: number): number {
    let low = first;
    let high = end;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const common = this.#common(middle, text, at);
      const start = this.starts[middle] ?? 0;
      const isBefore =
        common === this.#length(middle) ||
        (at + common < text.length && (this.bytes[start + common] ?? 0) < (text[at + common] ?? 0));
      if (isBefore) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** How many bytes the pattern and the text from `at` begin with alike. */
  #common(position: number, text: Uint8Array, at: number): number {
    const { bytes } = this;
    const start = this.starts[position] ?? 0;
    const most = Math.min((this.starts[position + 1] ?? 0) - start, text.length - at);
    let common = 0;
    while (common < most && bytes[start + common] === text[at + common]) common += 1;
    this.#compared += common + 1;
    return common;
  }

  #length(position: number): number {
    return (this.starts[position + 1] ?? 0) - (this.starts[position] ?? 0);
  }

  #findPrefixes(): Int32Array {
    const prefixes = new Int32Array(this.size).fill(-1);
    for (let position = 1; position < this.size; position += 1) {
      const text = this.bytes.subarray(this.starts[position], this.starts[position + 1]);
      let prefix = position - 1;
      while (prefix >= 0 && this.#common(prefix, text, 0) < this.#length(prefix))
        prefix = prefixes[prefix] ?? -1;
      prefixes[position] = prefix;
    }
    return prefixes;
  }
}

/** `patterns` sorted as `SortedPatterns` wants them. */
export function sortedOnce(patterns: readonly Uint8Array[]): Uint8Array[] {
  const sorted = [...patterns].sort(Buffer.compare);
  return sorted.filter((pattern, at) => at === 0 || Buffer.compare(pattern, sorted[at - 1] ?? pattern) !== 0);
}

/** Two such lists as one. */
export function mergedOnce(one: Iterable<Uint8Array>, other: readonly Uint8Array[]): Uint8Array[] {
  const merged: Uint8Array[] = [];
  let at = 0;
  for (const pattern of one) {
    for (let next = other[at]; next !== undefined; next = other[at]) {
      const order = Buffer.compare(next, pattern);
      if (order > 0) break;
      at += 1;
      if (order < 0) merged.push(next);
    }
    merged.push(pattern);
  }
  for (; at < other.length; at += 1) merged.push(...other.slice(at, at + 1));
  return merged;
}
