import type { SortedPatterns } from './sorted-patterns.ts';

/** No pattern is shorter: a few bytes would be found everywhere. Patterns that begin with the same six are a group. */
export const minPatternBytes = 6;

/** A block of text that is looked up has three bytes. */
const blockBytes = 3;
/** A block's places in the patterns are bits of one byte, so at most eight. */
const maxStride = 8;

/**
 * Tells where in a text a pattern may begin. Any pattern has, among its first bytes, a block at a multiple of the stride,
 * wherever it stands: so only one block in every `stride` bytes of the text is looked up, in a table that says at
 * which places in patterns such a block may be. What is left is looked up by its first six bytes.
 */
export class PatternFilter {
  readonly #stride: number;
  /** By hash of a block: bit n is set where a pattern has such a block n bytes after its beginning. */
  readonly #places: Uint8Array;
  readonly #placesShift: number;
  /** By hash of six bytes: one more than the first group; 0 for none. */
  readonly #groups: Int32Array;
  readonly #groupsShift: number;
  /** By group: one more than the next with the same hash. */
  readonly #nextGroup: Int32Array;
  /** By group: its first pattern; at the end, their number. */
  readonly #groupStarts: Int32Array;
  readonly #patterns: SortedPatterns;

  constructor(patterns: SortedPatterns) {
    this.#patterns = patterns;
    this.#stride = Math.max(1, Math.min(maxStride, patterns.shortest - blockBytes + 1));
    this.#groupStarts = groupStartsOf(patterns);
    const groups = this.#groupStarts.length - 1;
    this.#placesShift = 32 - bitsFor(groups * this.#stride * 32, 12, 22);
    this.#places = new Uint8Array(2 ** (32 - this.#placesShift));
    this.#groupsShift = 32 - bitsFor(groups * 4, 8, 22);
    this.#groups = new Int32Array(2 ** (32 - this.#groupsShift));
    this.#nextGroup = new Int32Array(groups);
    for (let group = 0; group < groups; group += 1) this.#enterGroup(group);
    this.#enterBlocks();
  }

  groupStart(group: number): number {
    return this.#groupStarts[group] ?? 0;
  }

  /** The group of the six bytes at `at`; -1 where no pattern begins with them. */
  groupAt(text: Uint8Array, at: number): number {
    if (at + minPatternBytes > text.length) return -1;
    let group = (this.#groups[hashOfPrefix(text, at) >>> this.#groupsShift] ?? 0) - 1;
    while (group >= 0 && !this.#isOfGroup(group, text, at)) group = (this.#nextGroup[group] ?? 0) - 1;
    return group;
  }

  /** Calls `candidate` in order with every place before `before` where a pattern may begin. */
  eachCandidate(text: Uint8Array, before: number, candidate: (start: number) => void): void {
    const places = this.#places;
    const placesShift = this.#placesShift;
    const groups = this.#groups;
    const groupsShift = this.#groupsShift;
    const stride = this.#stride;
    const lastStart = Math.min(before - 1, text.length - minPatternBytes);
    const lastBlock = Math.min(lastStart + stride - 1, text.length - blockBytes);
    for (let at = 0; at <= lastBlock; at += stride) {
      const block = (text[at] ?? 0) | ((text[at + 1] ?? 0) << 8) | ((text[at + 2] ?? 0) << 16);
      const bits = places[Math.imul(block, blockFactor) >>> placesShift] ?? 0;
      if (bits === 0) continue;
      for (let place = stride - 1; place >= 0; place -= 1) {
        const start = at - place;
        if ((bits & (1 << place)) === 0 || start < 0 || start > lastStart) continue;
        if (groups[hashOfPrefix(text, start) >>> groupsShift] !== 0) candidate(start);
      }
    }
  }

  #isOfGroup(group: number, text: Uint8Array, at: number): boolean {
    const { bytes, starts } = this.#patterns;
    const start = starts[this.#groupStarts[group] ?? 0] ?? 0;
    for (let byte = 0; byte < minPatternBytes; byte += 1)
      if (bytes[start + byte] !== text[at + byte]) return false;
    return true;
  }

  #enterGroup(group: number): void {
    const { bytes, starts } = this.#patterns;
    const hash = hashOfPrefix(bytes, starts[this.#groupStarts[group] ?? 0] ?? 0) >>> this.#groupsShift;
    this.#nextGroup[group] = this.#groups[hash] ?? 0;
    this.#groups[hash] = group + 1;
  }

  #enterBlocks(): void {
    const { bytes, starts, size } = this.#patterns;
    for (let pattern = 0; pattern < size; pattern += 1) {
      const start = starts[pattern] ?? 0;
      for (let place = 0; place < this.#stride; place += 1) {
        const at = start + place;
        const block = (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16);
        const hash = Math.imul(block, blockFactor) >>> this.#placesShift;
        this.#places[hash] = (this.#places[hash] ?? 0) | (1 << place);
      }
    }
  }
}

const blockFactor = 0x9e3779b1;

function hashOfPrefix(text: Uint8Array, at: number): number {
  const low =
    (text[at] ?? 0) | ((text[at + 1] ?? 0) << 8) | ((text[at + 2] ?? 0) << 16) | ((text[at + 3] ?? 0) << 24);
  const high = (text[at + 4] ?? 0) | ((text[at + 5] ?? 0) << 8);
  const mixed = Math.imul(low, blockFactor) ^ Math.imul(high, 0x85ebca6b);
  return Math.imul(mixed ^ (mixed >>> 15), 0x2c1b3c6d);
}

/** The first pattern of every group, and the number of patterns. */
function groupStartsOf({ bytes, starts, size }: SortedPatterns): Int32Array {
  const groups = new Int32Array(size + 1);
  let count = 0;
  for (let pattern = 0; pattern < size; pattern += 1) {
    const start = starts[pattern] ?? 0;
    const before = pattern === 0 ? -1 : (starts[pattern - 1] ?? 0);
    let alike = before < 0 ? 0 : minPatternBytes;
    for (let byte = 0; byte < alike; byte += 1) if (bytes[start + byte] !== bytes[before + byte]) alike = 0;
    if (alike > 0) continue;
    groups[count] = pattern;
    count += 1;
  }
  groups[count] = size;
  return groups.slice(0, count + 1);
}

/** How many bits number so many entries, between `least` and `most`. */
function bitsFor(entries: number, least: number, most: number): number {
  return Math.max(least, Math.min(most, Math.ceil(Math.log2(Math.max(1, entries)))));
}
