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

  static readonly none = new SortedPatterns(new Uint8Array(0), new Int32Array(1));

  private constructor(bytes: Uint8Array, starts: Int32Array) {
    this.bytes = bytes;
    this.starts = starts;
    this.size = starts.length - 1;
    let longest = 0;
    let shortest = Number.POSITIVE_INFINITY;
    for (let position = 0; position < this.size; position += 1) {
      longest = Math.max(longest, this.#length(position));
      shortest = Math.min(shortest, this.#length(position));
    }
    this.longest = longest;
    this.shortest = shortest;
    this.#prefixes = this.#findPrefixes();
  }

  /** Bytes that were looked at so far to tell patterns from text: what bounds on work are held against. */
  get comparedBytes(): number {
    return this.#compared;
  }

  /** With more, which are sorted and each there once. What is here already is copied in blocks. */
  with(sorted: readonly Uint8Array[]): SortedPatterns {
    const places = sorted.map((pattern) => this.#after(0, this.size, pattern, 0));
    const isNew = sorted.map((pattern, at) => !this.#isAt((places[at] ?? 0) - 1, pattern));
    const added = sorted.filter((_, at) => isNew[at]);
    const addedPlaces = places.filter((_, at) => isNew[at]);
    const bytes = new Uint8Array(this.bytes.length + added.reduce((sum, { length }) => sum + length, 0));
    const starts = new Int32Array(this.starts.length + added.length);
    let end = 0;
    let size = 0;
    let done = 0;
    const copyUpTo = (place: number) => {
      const from = this.starts[done] ?? 0;
      bytes.set(this.bytes.subarray(from, this.starts[place]), end);
      for (; done < place; done += 1) starts[size++] = end + (this.starts[done] ?? 0) - from;
      end += (this.starts[place] ?? 0) - from;
    };
    added.forEach((pattern, at) => {
      copyUpTo(addedPlaces[at] ?? 0);
      bytes.set(pattern, end);
      starts[size++] = end;
      end += pattern.length;
    });
    copyUpTo(this.size);
    starts[size] = end;
    return new SortedPatterns(bytes, starts);
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

  #isAt(position: number, pattern: Uint8Array): boolean {
    return (
      position >= 0 &&
      this.#length(position) === pattern.length &&
      this.#common(position, pattern, 0) === pattern.length
    );
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
