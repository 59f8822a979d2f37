import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalJson } from '../../lib/canonical-json.ts';
import { CanonicalScanner, maxDepth } from './canonical-scanner.ts';

const isCanonical = (text: string | Buffer) => {
  const bytes = Buffer.from(text);
  return new CanonicalScanner().scan(bytes, bytes.length);
};

describe('the scanner', () => {
  test('takes the canonical form of any object', () => {
    const json = fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue({ stringUnit: 'binary' }));
    const wellFormed = json.filter((value) => isWellFormed(value));
    fc.assert(
      fc.property(wellFormed, (value) => isCanonical(`${canonicalJson(value)}\n`)),
      { numRuns: 2000 },
    );
  });

  test('takes bytes only if parsing them and writing them again gives the same bytes', () => {
    const seeds = [
      '{"a":[1,-2.5e-7,"x\\n\\u001f"],"b":{"c":null,"é":true},"😀":false}\n',
      '{"":0}\n',
      '{}\n',
    ];
    const mutation = fc.tuple(fc.constantFrom(...seeds), fc.nat(), fc.string({ maxLength: 2 }), fc.nat(2));
    fc.assert(
      fc.property(mutation, ([seed, at, inserted, removed]) => {
        const start = at % seed.length;
        // By way of bytes: half a surrogate pair becomes U+FFFD.
        const cut = seed.slice(0, start) + inserted + seed.slice(start + removed);
        const text = Buffer.from(cut).toString();
        expect([text, isCanonical(text)]).toEqual([text, isRewrittenSame(text)]);
      }),
      { numRuns: 5000 },
    );
  });

  test.for([
    ['nothing', ''],
    ['no line feed', '{}'],
    ['two line feeds', '{}\n\n'],
    ['an array', '[]\n'],
    ['a byte order mark', '\ufeff{}\n'],
    ['a name twice', '{"a":1,"a":1}\n'],
    ['names out of order', '{"b":1,"a":1}\n'],
    ['names ordered by bytes rather than UTF-16', '{"\uffff":1,"😀":1}\n'],
    ['a longer name before its beginning', '{"ab":1,"a":1}\n'],
    ['a space', '{"a": 1}\n'],
    ['a comma too many', '{"a":1,}\n'],
    ['an escaped slash', '{"a":"\\/"}\n'],
    ['a control that has a short escape', '{"a":"\\u000a"}\n'],
    ['capital digits', '{"a":"\\u001F"}\n'],
    ['an escape that is not needed', '{"a":"\\u0061"}\n'],
    ['a raw control', '{"a":"\u0001"}\n'],
    ['minus zero', '{"a":-0}\n'],
    ['a leading zero', '{"a":01}\n'],
    ['a fraction of zero', '{"a":1.0}\n'],
    ['an exponent without its sign', '{"a":1e30}\n'],
    ['too many digits', '{"a":0.10000000000000000555}\n'],
    ['an integer beyond the doubles', '{"a":9007199254740993}\n'],
    ['NaN', '{"a":NaN}\n'],
    ['an unclosed string', '{"a":"b\n'],
    ['a string that ends in a backslash', '{"a":"b\\\n'],
  ] as const)('refuses %s', ([, text]) => {
    expect(isCanonical(text)).toBe(false);
  });

  test('refuses bytes that are not UTF-8', () => {
    for (const bytes of [[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xe2, 0x82]])
      expect(
        isCanonical(Buffer.concat([Buffer.from('{"a":"'), Buffer.from(bytes), Buffer.from('"}\n')])),
      ).toBe(false);
  });

  test('takes names ordered by UTF-16 units, where that is not the order of the bytes', () => {
    expect(isCanonical('{"😀":1,"\uffff":1}\n')).toBe(true);
    expect(isCanonical('{"\\n":1," ":2,"!":3,"\\"":4,"#":5}\n')).toBe(true);
  });

  test('takes 64 levels, and no more', () => {
    const nested = (levels: number) => `{"a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}\n`;
    expect([isCanonical(nested(maxDepth)), isCanonical(nested(maxDepth + 1))]).toEqual([true, false]);
  });
});

function isRewrittenSame(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && !Array.isArray(value) && `${canonicalJson(value)}\n` === text;
  } catch {
    // No JSON, or no canonical form.
    return false;
  }
}

function isWellFormed(value: unknown): boolean {
  try {
    canonicalJson(value);
    return true;
  } catch {
    // A lone surrogate.
    return false;
  }
}
