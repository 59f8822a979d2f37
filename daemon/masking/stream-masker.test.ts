import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PatternSet } from './pattern-set.ts';
import { formsOf } from './secret-forms.ts';
import { StreamMasker } from './stream-masker.ts';
import { naiveMask } from './testing/naive-mask.ts';

const pem = [
  '-----BEGIN KEY-----',
  'MIIEvQIBADANBgkqhkiG9w0BAQEFAASC',
  'BKcwggSjAgEAAoIBAQC7',
  '-----END KEY-----',
];

describe('a masked stream', () => {
  it('has one *** for occurrences that share a byte, and one each for those that only touch', () => {
    expect(mask(['abcdef', 'defghi'], ['xabcdefghiy'])).toEqual({ text: 'x***y', count: 1 });
    expect(mask(['abcdef', 'ghijkl'], ['xabcdefghijkly'])).toEqual({ text: 'x******y', count: 2 });
    expect(mask(['abcabc'], ['abcabcabcab'])).toEqual({ text: '***ab', count: 1 });
    expect(mask(['aaaaaa'], ['a'.repeat(100), 'b', 'aaaaa'])).toEqual({ text: '***baaaaa', count: 1 });
  });

  it('has the longest of secrets that begin alike, end alike or lie in each other', () => {
    const secrets = ['secret', 'secret-longer', 'my-secret', 'ret-lon'];
    for (const text of ['secret', 'secret-longer', 'my-secret', 'my-secret-longer'])
      expect(mask(secrets, [`<${text}>`])).toEqual({ text: '<***>', count: 1 });
    expect(mask(secrets, ['secret-long!'])).toEqual({ text: '***g!', count: 1 });
    expect(mask(secrets, ['my-secre', 'secre', 'secret-longe'])).toEqual({
      text: 'my-secresecre***ge',
      count: 1,
    });
  });

  it('is the same however it is cut, and what a search for every pattern alone gives', () => {
    // Few letters and short patterns, so that they overlap in every way.
    const letters = (min: number, max: number) =>
      fc.array(fc.constantFrom('a', 'b'), { minLength: min, maxLength: max }).map((all) => all.join(''));
    const patterns = fc.array(letters(6, 14), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(patterns, fc.array(letters(0, 30), { maxLength: 8 }), (secrets, chunks) => {
        const whole = chunks.join('');
        const expected = naiveMask(
          secrets.map((secret) => Buffer.from(secret)),
          Buffer.from(whole),
        );
        expect(mask(secrets, [whole])).toEqual(expected);
        expect(mask(secrets, chunks)).toEqual(expected);
        expect(mask(secrets, [...whole])).toEqual(expected);
      }),
      { numRuns: 3000 },
    );
  });

  it('is what a search for every form of real secrets gives, in text made of pieces of them', () => {
    const value = fc.string({ unit: 'binary', minLength: 6, maxLength: 150 });
    const secrets = fc.array(
      fc.oneof(value, fc.string({ unit: fc.constantFrom('k', '/', '\n', 'é'), minLength: 6 })),
      {
        minLength: 1,
        maxLength: 4,
      },
    );
    fc.assert(
      fc.property(secrets, fc.infiniteStream(fc.nat()), (values, numbers) => {
        const patterns = values.flatMap(formsOf);
        const next = (below: number) => (numbers.next().value ?? 0) % Math.max(1, below);
        const pieces = Array.from({ length: 20 }, () => {
          const form = patterns[next(patterns.length)] ?? Buffer.from('nothing');
          return next(2) === 0 ? form : form.subarray(next(form.length), next(form.length + 1));
        });
        const expected = naiveMask(patterns, Buffer.concat(pieces));
        expect(maskWith(PatternSet.of(patterns), pieces)).toEqual(expected);
        expect(maskWith(PatternSet.of(patterns), [Buffer.concat(pieces)])).toEqual(expected);
      }),
      { numRuns: 150 },
    );
  });

  it('gives a chunk back as it is where nothing is masked or held, without copying', () => {
    const masker = new StreamMasker({ patterns: PatternSet.of(formsOf('secret value')) });
    const chunk = Buffer.from('nothing to hide\n');
    expect(masker.push(chunk)).toBe(chunk);
    const partly = Buffer.from('nothing to hide, sec');
    const given = masker.push(partly);
    expect(given.toString()).toBe('nothing to hide, ');
    expect(given.buffer).toBe(partly.buffer);
    const none = new StreamMasker({ patterns: PatternSet.of([]) });
    expect(none.push(chunk)).toBe(chunk);
  });

  it('holds back what may become an occurrence and nothing else', () => {
    const masker = new StreamMasker({
      patterns: PatternSet.of(['abcdef', 'cdefghij'].map((text) => Buffer.from(text))),
    });
    const pushed = ['x', 'ab', 'c', 'x', 'abcde', 'f', 'gh', 'x', 'abcdefghij', 'a'].map((text) =>
      masker.push(Buffer.from(text)).toString(),
    );
    // After "abcdef" its *** is out; what may be "cdefghij" is held, and comes out but for what the *** stands for.
    expect(pushed).toEqual(['x', '', '', 'abcx', '', '***', '', 'ghx', '***', '']);
    expect(masker.end().toString()).toBe('a');
    expect(masker.count).toBe(2);
  });

  it('gives *** at once for an occurrence that may become longer, and no second one when it does', () => {
    for (const [next, rest] of [
      ['-longer.', '.'],
      ['-lost', '-lost'],
    ] as const) {
      const masker = new StreamMasker({ patterns: patternsOf(['secret', 'secret-longer']) });
      expect(masker.push(Buffer.from('the secret')).toString()).toBe('the ***');
      expect(masker.push(Buffer.from(next)).toString()).toBe(rest);
      expect(masker.count).toBe(1);
    }
  });

  it('masks a secret that joins while it runs in what is held and in all that comes', () => {
    const masks = { patterns: patternsOf(['first secret']) };
    const masker = new StreamMasker(masks);
    expect(masker.push(Buffer.from('second, first sec')).toString()).toBe('second, ');
    masks.patterns = masks.patterns.with([Buffer.from('t second')]);
    expect(masker.push(Buffer.from('ond first secret t sec')).toString()).toBe('firs*** *** ');
    expect(masker.push(Buffer.from('ond')).toString()).toBe('***');
    expect(masker.count).toBe(3);
  });

  it('masks values with characters of several bytes that are cut in the middle', () => {
    const secret = 'ключ-😀-進捗';
    const bytes = Buffer.from(`é${secret}é`);
    for (let at = 0; at <= bytes.length; at += 1)
      expect(maskWith(patternsOf([secret]), [bytes.subarray(0, at), bytes.subarray(at)]).text).toBe('é***é');
  });

  it('masks a key of several lines as one where its lines are as they were, and line by line elsewhere', () => {
    const forms = PatternSet.of(formsOf(`${pem.join('\n')}\n`));
    for (const [lineEnd, masked] of [
      ['\n', '***'],
      ['\r\n', pem.map(() => '***').join('\r\n')],
    ] as const) {
      const text = Buffer.from(`a${lineEnd}${pem.join(lineEnd)}${lineEnd}b`);
      for (let at = 0; at <= text.length; at += 1)
        expect(maskWith(forms, [text.subarray(0, at), text.subarray(at)]).text).toBe(
          `a${lineEnd}${masked}${lineEnd}b`,
        );
    }
  });

  it('masks a value of 6 characters and leaves one of 5', () => {
    expect(
      maskWith(PatternSet.of(['12345', 'abcdef'].flatMap(formsOf)), [Buffer.from('12345 abcdef')]).text,
    ).toBe('12345 ***');
  });
});

describe('the work of a masked stream', () => {
  it('grows with the stream and not with its square, for a secret of 64 KiB that comes byte by byte', () => {
    for (const value of ['a'.repeat(65_536), `${'a'.repeat(65_535)}b`, 'ab'.repeat(32_768)]) {
      const patterns = PatternSet.of(formsOf(value));
      const before = patterns.comparedBytes;
      const { text, count } = maskWith(patterns, bytesOf(Buffer.from(value)));
      expect({ text, count }).toEqual({ text: '***', count: 1 });
      expect((patterns.comparedBytes - before) / value.length).toBeLessThan(2000);
    }
  });

  it('is bounded for every byte of text that is nearly a secret everywhere, in one chunk and byte by byte', () => {
    const secrets = [
      `${'a'.repeat(63)}b`,
      ...Array.from({ length: 200 }, (_, at) => `${'a'.repeat(60)}${1000 + at}`),
    ];
    const patterns = PatternSet.of(secrets.map((secret) => Buffer.from(secret)));
    for (const chunks of [[Buffer.alloc(65_536, 'a')], bytesOf(Buffer.alloc(65_536, 'a'))]) {
      const before = patterns.comparedBytes;
      expect(maskWith(patterns, chunks)).toEqual({ text: 'a'.repeat(65_536), count: 0 });
      // 64 bytes of the longest, a binary search among 201, looked at for an end and for a match.
      expect((patterns.comparedBytes - before) / 65_536).toBeLessThan(64 * 9 * 3);
    }
  });

  it('is next to none for text that is like no secret', () => {
    const patterns = PatternSet.of(formsOf('K9#mPq2$vL'));
    const before = patterns.comparedBytes;
    maskWith(patterns, [Buffer.from('a line of the usual output\n'.repeat(10_000))]);
    expect(patterns.comparedBytes - before).toBeLessThan(100);
  });
});

function mask(secrets: readonly string[], chunks: readonly string[]) {
  return maskWith(
    patternsOf(secrets),
    chunks.map((chunk) => Buffer.from(chunk)),
  );
}

function patternsOf(secrets: readonly string[]): PatternSet {
  return PatternSet.of(secrets.map((secret) => Buffer.from(secret)));
}

function maskWith(patterns: PatternSet, chunks: readonly Buffer[]): { text: string; count: number } {
  const masker = new StreamMasker({ patterns });
  const pieces = [...chunks.map((chunk) => masker.push(chunk)), masker.end()];
  return { text: Buffer.concat(pieces).toString(), count: masker.count };
}

function bytesOf(bytes: Buffer): Buffer[] {
  return Array.from(bytes, (_, at) => bytes.subarray(at, at + 1));
}
