import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalJson } from './canonical-json.ts';

describe('the canonical form', () => {
  test('is that of the example in RFC 8785, section 3.2.2', () => {
    const input = JSON.parse(
      '{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],"string":"\\u20ac$\\u000F\\u000aA\'\\u0042\\u0022\\u005c\\\\\\"\\/","literals":[null,true,false]}',
    );
    expect(canonicalJson(input)).toBe(
      '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    );
  });

  test('sorts names by UTF-16 units, as in section 3.2.3', () => {
    const input = { '€': 1, '\r': 2, '\ufb33': 3, '1': 4, '😀': 5, '\u0080': 6, ö: 7 };
    expect(canonicalJson(input)).toBe('{"\\r":2,"1":4,"\u0080":6,"ö":7,"€":1,"😀":5,"\ufb33":3}');
  });

  // RFC 8785, appendix B: bits of the double, and how it is written.
  test.for([
    ['0000000000000000', '0'],
    ['8000000000000000', '0'],
    ['0000000000000001', '5e-324'],
    ['8000000000000001', '-5e-324'],
    ['7fefffffffffffff', '1.7976931348623157e+308'],
    ['4340000000000000', '9007199254740992'],
    ['4430000000000000', '295147905179352830000'],
    ['44b52d02c7e14af5', '9.999999999999997e+22'],
    ['44b52d02c7e14af6', '1e+23'],
    ['44b52d02c7e14af7', '1.0000000000000001e+23'],
    ['444b1ae4d6e2ef4e', '999999999999999700000'],
    ['444b1ae4d6e2ef50', '1e+21'],
    ['3eb0c6f7a0b5ed8c', '9.999999999999997e-7'],
    ['3eb0c6f7a0b5ed8d', '0.000001'],
    ['41b3de4355555553', '333333333.3333332'],
    ['becbf647612f3696', '-0.0000033333333333333333'],
    ['43143ff3c1cb0959', '1424953923781206.2'],
  ] as const)('writes the double %s as %s', ([bits, written]) => {
    expect(canonicalJson(Buffer.from(bits, 'hex').readDoubleBE())).toBe(written);
  });

  test('is the one that npm canonicalize makes, for any JSON', () => {
    const strings = fc.string({ unit: 'binary' }).filter((text) => text.isWellFormed());
    const json = fc
      .jsonValue({ stringUnit: 'binary' })
      .filter((value) => JSON.stringify(value).isWellFormed());
    fc.assert(
      fc.property(fc.oneof(json, fc.dictionary(strings, json), fc.double({ noNaN: true })), (value) => {
        if (typeof value === 'number' && !Number.isFinite(value)) return;
        expect(canonicalJson(value)).toBe(canonicalize(value));
      }),
      { numRuns: 2000 },
    );
  });

  test('takes a name that objects have of their own for a name like any other', () => {
    expect(canonicalJson(JSON.parse('{"__proto__":1,"a":{"constructor":2}}'))).toBe(
      '{"__proto__":1,"a":{"constructor":2}}',
    );
  });

  test.for([
    ['undefined', undefined],
    ['a member that is undefined', { a: undefined }],
    ['a hole in an array', Object.assign([1], { length: 2 })],
    ['NaN', Number.NaN],
    ['Infinity', [Number.POSITIVE_INFINITY]],
    ['a lone surrogate', 'a\ud800b'],
    ['a lone surrogate in a long string', `${'a'.repeat(100)}\udc00`],
    ['a lone surrogate in a name', { '\ud83d': 1 }],
    ['a date', new Date(0)],
    ['a map', new Map()],
    ['a bigint', 1n],
    ['a symbol', Symbol('a')],
    ['a function', () => 1],
  ] as const)('does not exist for %s', ([, value]) => {
    expect(() => canonicalJson(value)).toThrow(TypeError);
  });
});
