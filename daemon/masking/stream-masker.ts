import type { PatternSet } from './pattern-set.ts';

const stars = Buffer.from('***');
const nothing = Buffer.alloc(0);

/**
 * Puts `***` in place of every occurrence of a pattern in one stream of bytes, whichever way it is cut into chunks:
 * occurrences that share a byte are one `***`, those that only touch are one each. Only the end of what came so far that
 * may be the beginning of an occurrence is held back. Patterns that join while the stream runs count for what is held
 * and for all that comes.
 */
export class StreamMasker {
  readonly #masks: { readonly patterns: PatternSet };
  /** Begins where an occurrence may begin that is not complete yet. */
  #held: Buffer = nothing;
  /** How many bytes of the held a `***` that is already out stands for. */
  #covered = 0;
  #count = 0;

  constructor(masks: { readonly patterns: PatternSet }) {
    this.#masks = masks;
  }

  /** How many `***` it has put. */
  get count(): number {
    return this.#count;
  }

  /** What is certain after this chunk; the chunk itself where it holds nothing to mask and nothing is held back. */
  push(chunk: Buffer): Buffer {
    const { patterns } = this.#masks;
    const bytes = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    return this.#mask(patterns, bytes, patterns.firstUnfinished(bytes));
  }

  /** The rest, once no more comes. */
  end(): Buffer {
    return this.#mask(this.#masks.patterns, this.#held, this.#held.length);
  }

  /** Everything before `certain`: no occurrence that begins there is incomplete. */
  #mask(patterns: PatternSet, bytes: Buffer, certain: number): Buffer {
    const output = new MaskedOutput(bytes, this.#covered);
    patterns.eachOccurrence(bytes, certain, (start, end) => output.mask(start, end));
    // A complete occurrence at the very start of what may become a longer one: its *** is certain.
    const first = certain < bytes.length ? patterns.longestAt(bytes, certain) : 0;
    if (first > 0) output.mask(certain, certain + first);
    const result = output.upTo(certain);
    this.#count += output.count;
    this.#covered = Math.max(0, output.covered - certain);
    // A copy: a few bytes must not keep a whole chunk in memory.
    this.#held = certain === bytes.length ? nothing : Buffer.from(bytes.subarray(certain));
    return result;
  }
}

/** What is left of `bytes` with runs of occurrences replaced. */
class MaskedOutput {
  count = 0;
  /** Up to where the bytes are masked, or written out. */
  covered: number;
  readonly #bytes: Buffer;
  /** Never longer than the bytes: three stand for six or more. */
  #output: Buffer | undefined;
  #length = 0;

  constructor(bytes: Buffer, covered: number) {
    this.#bytes = bytes;
    this.covered = covered;
  }

  /** Occurrences come in the order of their starts. */
  mask(start: number, end: number): void {
    if (start >= this.covered) {
      this.#copyUpTo(start);
      this.#append(stars);
      this.count += 1;
    }
    this.covered = Math.max(this.covered, end);
  }

  /** All that stands for the bytes before `end`; the very buffer where that is all of it, unchanged. */
  upTo(end: number): Buffer {
    const from = Math.min(this.covered, end);
    if (this.#output === undefined)
      return from === 0 && end === this.#bytes.length ? this.#bytes : this.#bytes.subarray(from, end);
    if (from < end) this.#copyUpTo(end);
    return this.#output.subarray(0, this.#length);
  }

  #copyUpTo(end: number): void {
    this.#append(this.#bytes.subarray(this.covered, end));
  }

  #append(piece: Buffer): void {
    this.#output ??= Buffer.allocUnsafe(this.#bytes.length);
    this.#length += piece.copy(this.#output, this.#length);
  }
}
