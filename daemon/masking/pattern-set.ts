import { minPatternBytes, PatternFilter } from './pattern-filter.ts';
import { sortPatterns } from './sort-patterns.ts';
import { SortedPatterns } from './sorted-patterns.ts';

/**
 * Byte patterns, 6 bytes or longer, that are looked for all at once. Never changes; `with` gives a larger one. A pass over
 * text looks at three bytes in every four to eight, and at a place where a pattern may begin at no more than
 * (2 + log2 of the patterns that begin with the same 6 bytes) times the longest pattern: linear in the text, whatever it
 * is. It takes the patterns' bytes and up to some 80 more for each.
 */
export class PatternSet {
  readonly #patterns: SortedPatterns;
  readonly #filter: PatternFilter;
  /** Where the patterns that begin with a byte begin. */
  readonly #byFirstByte: Int32Array;

  /** Throws for a pattern under 6 bytes. */
  static of(patterns: readonly Uint8Array[]): PatternSet {
    return new PatternSet(SortedPatterns.none.with(sortPatterns(patterns)));
  }

  private constructor(patterns: SortedPatterns) {
    this.#patterns = patterns;
    if (this.#patterns.shortest < minPatternBytes)
      throw new RangeError(`a pattern is under ${minPatternBytes} bytes`);
    this.#filter = new PatternFilter(this.#patterns);
    this.#byFirstByte = firstByteStarts(this.#patterns);
  }

  get size(): number {
    return this.#patterns.size;
  }

  /** Bytes looked at so far to tell patterns from text: what the bound on work is held against. */
  get comparedBytes(): number {
    return this.#patterns.comparedBytes;
  }

  /** Costs the sorting of the new ones and a copy of the others. */
  with(patterns: readonly Uint8Array[]): PatternSet {
    return new PatternSet(this.#patterns.with(sortPatterns(patterns)));
  }

  /** The longest occurrence at every place before `before` where one begins, in order; it may end after `before`. */
  eachOccurrence(text: Uint8Array, before: number, found: (start: number, end: number) => void): void {
    if (this.size === 0) return;
    this.#filter.eachCandidate(text, before, (start) => {
      const length = this.longestAt(text, start);
      if (length > 0) found(start, start + length);
    });
  }

  /** Length of the longest pattern that begins at `at` and is complete; 0 where there is none. */
  longestAt(text: Uint8Array, at: number): number {
    const group = this.#filter.groupAt(text, at);
    if (group < 0) return 0;
    return this.#patterns.longestAt(
      this.#filter.groupStart(group),
      this.#filter.groupStart(group + 1),
      text,
      at,
    );
  }

  /** The first place from which the text may, with more to come, be an occurrence, or a longer one; its length if none. */
  firstUnfinished(text: Uint8Array): number {
    let at = Math.max(0, text.length - this.#patterns.longest + 1);
    while (at < text.length && !this.#isUnfinishedAt(text, at)) at += 1;
    return Math.min(at, text.length);
  }

  #isUnfinishedAt(text: Uint8Array, at: number): boolean {
    if (text.length - at < minPatternBytes) {
      const first = text[at] ?? 0;
      const [start = 0, end = 0] = this.#byFirstByte.subarray(first, first + 2);
      return start < end && this.#patterns.isUnfinishedAt(start, end, text, at);
    }
    const group = this.#filter.groupAt(text, at);
    if (group < 0) return false;
    return this.#patterns.isUnfinishedAt(
      this.#filter.groupStart(group),
      this.#filter.groupStart(group + 1),
      text,
      at,
    );
  }
}

function firstByteStarts({ bytes, starts: patternStarts, size }: SortedPatterns): Int32Array {
  const starts = new Int32Array(257);
  for (let position = 0; position < size; position += 1) {
    const next = (bytes[patternStarts[position] ?? 0] ?? 0) + 1;
    starts[next] = (starts[next] ?? 0) + 1;
  }
  for (let byte = 1; byte <= 256; byte += 1) starts[byte] = (starts[byte] ?? 0) + (starts[byte - 1] ?? 0);
  return starts;
}
