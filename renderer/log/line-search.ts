import type { LineStore } from './line-store.ts';
import { matchingLines, type SearchTerm } from './search-term.ts';

/** The rows of a store that hold a term, found in slices, and kept up to date while output arrives. */
export class LineSearch {
  readonly term: SearchTerm;
  readonly #store: LineStore;
  #rows = new Uint32Array(1024);
  #from = 0;
  #to = 0;
  #scanned = 0;

  constructor(store: LineStore, term: SearchTerm) {
    this.#store = store;
    this.term = term;
    this.#scanned = store.first;
  }

  get count(): number {
    this.#forgetDropped();
    return this.#to - this.#from;
  }

  get done(): boolean {
    return this.#scanned >= this.#store.end;
  }

  /** Searches one more chunk of lines: some milliseconds. */
  step(): void {
    const start = Math.max(this.#scanned, this.#store.first);
    if (start >= this.#store.end) return;
    const { text, next } = this.#store.chunkText(start);
    for (const line of matchingLines(text, this.term)) this.#add(start + line);
    this.#scanned = next;
  }

  /** A row that was searched has changed: it and what follows it are searched again. */
  rescan(row: number): void {
    if (this.#scanned <= row) return;
    this.#scanned = row;
    while (this.#to > this.#from && (this.#rows[this.#to - 1] ?? 0) >= row) this.#to--;
  }

  /** The match at or after `row`, else the first one of all. */
  next(row: number): { row: number; ordinal: number } | undefined {
    if (this.count === 0) return undefined;
    const at = this.#lowerBound(row);
    return this.#at(at < this.#to ? at : this.#from);
  }

  /** The match at or before `row`, else the last one of all. */
  previous(row: number): { row: number; ordinal: number } | undefined {
    if (this.count === 0) return undefined;
    const at = this.#lowerBound(row + 1) - 1;
    return this.#at(at >= this.#from ? at : this.#to - 1);
  }

  #at(index: number): { row: number; ordinal: number } {
    return { row: this.#rows[index] ?? 0, ordinal: index - this.#from + 1 };
  }

  #add(row: number): void {
    if (this.#to === this.#rows.length) {
      const kept = this.#rows.subarray(this.#from, this.#to);
      const grown = new Uint32Array(Math.max(1024, kept.length * 2));
      grown.set(kept);
      this.#rows = grown;
      this.#to = kept.length;
      this.#from = 0;
    }
    this.#rows[this.#to++] = row;
  }

  #forgetDropped(): void {
    while (this.#from < this.#to && (this.#rows[this.#from] ?? 0) < this.#store.first) this.#from++;
  }

  #lowerBound(row: number): number {
    let low = this.#from;
    let high = this.#to;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#rows[middle] ?? 0) < row) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
