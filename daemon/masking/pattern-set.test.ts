import { describe, expect, it } from 'vitest';
import { PatternSet } from './pattern-set.ts';
import { sortPatterns } from './sort-patterns.ts';
import { seededRandom } from './testing/seeded-random.ts';

const random = seededRandom(5);

describe('a set of patterns', () => {
  it('has the same occurrences whether its patterns came at once or by and by, however often', () => {
    for (let round = 0; round < 100; round += 1) {
      const groups = Array.from({ length: 4 }, () =>
        Array.from({ length: 1 + below(20) }, () => randomBytes(6, 12)),
      );
      const all = groups.flat();
      const grown = groups.reduce((set, group) => set.with(group), PatternSet.of([]));
      const text = randomBytes(300, 300);
      const expected = longestByStart(all, text);
      expect(occurrences(PatternSet.of(all), text)).toEqual(expected);
      expect(occurrences(grown, text)).toEqual(expected);
      expect(grown.size).toBe(new Set(all.map((pattern) => pattern.toString('latin1'))).size);
    }
  });

  it('finds patterns at both ends of a text, and of any bytes', () => {
    for (let length = 6; length <= 20; length += 1) {
      const pattern = Buffer.from(Array.from({ length }, (_, at) => (at % 2 === 0 ? 0 : 255)));
      const set = PatternSet.of([pattern]);
      expect(occurrences(set, pattern)).toEqual([[0, length]]);
      for (let before = 0; before < 12; before += 1)
        expect(
          occurrences(set, Buffer.concat([Buffer.alloc(before, 7), pattern, Buffer.alloc(before, 7)])),
        ).toEqual([[before, before + length]]);
    }
  });

  it('gives only occurrences that begin before a place, also when they end after it', () => {
    const set = PatternSet.of([Buffer.from('abcdef')]);
    const text = Buffer.from('abcdef-abcdef-abcdef');
    for (const [before, expected] of [
      [0, []],
      [1, [0]],
      [7, [0]],
      [8, [0, 7]],
      [20, [0, 7, 14]],
    ] as const) {
      const starts: number[] = [];
      set.eachOccurrence(text, before, (start) => starts.push(start));
      expect(starts).toEqual(expected);
    }
  });

  it('takes no pattern under 6 bytes', () => {
    expect(() => PatternSet.of([Buffer.from('short')])).toThrow(RangeError);
    expect(() => PatternSet.of([Buffer.from('longer')]).with([Buffer.from('')])).toThrow(RangeError);
  });

  it('tells where what may be an occurrence begins', () => {
    const set = PatternSet.of(['abcdefgh', 'defgh-xyz', 'defghi'].map((text) => Buffer.from(text)));
    const firstUnfinished = (text: string) => set.firstUnfinished(Buffer.from(text));
    expect(firstUnfinished('')).toBe(0);
    expect(firstUnfinished('nothing')).toBe(7);
    expect(firstUnfinished('--a')).toBe(2);
    expect(firstUnfinished('--abcdefg')).toBe(2);
    expect(firstUnfinished('--abcdefgh')).toBe(5);
    expect(firstUnfinished('--abcdefghi')).toBe(11);
    expect(firstUnfinished('--abcdefgh-x')).toBe(5);
  });
});

describe('patterns', () => {
  it('are sorted by their bytes, each once, few or many', () => {
    for (const most of [10, 1000]) {
      const patterns = Array.from({ length: 500 }, () => randomBytes(6, 9));
      const sorted = sortPatterns(patterns, most).map((pattern) => Buffer.from(pattern).toString('latin1'));
      // Of one character for each byte, so that the order of strings is that of bytes.
      expect(sorted).toEqual([...new Set(patterns.map((pattern) => pattern.toString('latin1')))].sort());
    }
  });
});

function occurrences(set: PatternSet, text: Buffer): [number, number][] {
  const found: [number, number][] = [];
  set.eachOccurrence(text, text.length, (start, end) => found.push([start, end]));
  return found;
}

function longestByStart(patterns: readonly Buffer[], text: Buffer): [number, number][] {
  return Array.from(text, (_, start): [number, number] => {
    const here = patterns.filter((pattern) => text.subarray(start, start + pattern.length).equals(pattern));
    return [start, start + Math.max(0, ...here.map(({ length }) => length))];
  }).filter(([start, end]) => end > start);
}

/** Of two values, so that patterns are found, begin alike and lie in each other. */
function randomBytes(least: number, most: number): Buffer {
  return Buffer.from(
    Array.from({ length: least + below(most - least + 1) }, () => (random() < 0.5 ? 65 : 200)),
  );
}

function below(limit: number): number {
  return Math.floor(random() * limit);
}
