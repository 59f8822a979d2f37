import { PatternSet } from './pattern-set.ts';
import { formsOf } from './secret-forms.ts';
import { StreamMasker } from './stream-masker.ts';

/**
 * What is masked in everything that leaves a workspace: all forms of all values it has had while the daemon runs. Live:
 * a value that joins is masked at once in the streams that run.
 */
export class Masks {
  readonly #values = new Set<string>();
  #patterns = PatternSet.of([]);

  /** Replaced, never changed, when values join. */
  get patterns(): PatternSet {
    return this.#patterns;
  }

  /** Whether nothing can be masked: no values, or none of 6 characters or more. */
  get isEmpty(): boolean {
    return this.#patterns.size === 0;
  }

  /** Values that are known already cost nothing; several at once cost less than one by one. */
  add(values: Iterable<string>): void {
    const patterns: Buffer[] = [];
    for (const value of values) {
      if (this.#values.has(value)) continue;
      this.#values.add(value);
      for (const form of formsOf(value)) patterns.push(form);
    }
    if (patterns.length > 0) this.#patterns = this.#patterns.with(patterns);
  }

  /** The text with `***` for every occurrence, lone surrogates as U+FFFD; the very string where there is none. */
  text(text: string): string {
    if (this.isEmpty) return text;
    const bytes = Buffer.from(text);
    let found = false;
    this.#patterns.eachOccurrence(bytes, bytes.length, () => {
      found = true;
    });
    if (!found) return text;
    const masker = new StreamMasker(this);
    return Buffer.concat([masker.push(bytes), masker.end()]).toString();
  }
}
