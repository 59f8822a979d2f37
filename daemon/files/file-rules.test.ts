import { describe, expect, test } from 'vitest';
import { toBytePath } from '../lib/byte-path.ts';
import { parseRange } from './byte-range.ts';
import { cutLine } from './cut-line.ts';
import { checkConditions, matches } from './etags.ts';
import { isReserved } from './reserved-names.ts';

describe('reserved names', () => {
  const reserved = [
    '.git',
    '.git/config',
    'vendor/lib/.git',
    '.service',
    '.service/receipts/x',
    '.GIT',
    '.Service/x',
    '.gIt/HEAD',
    '.git ',
    '.git.',
    '.git. . .',
    '.git::$INDEX_ALLOCATION',
    '.git:stream',
    'git~1',
    'GIT~2/config',
    '.g\u200cit',
    '\ufeff.git',
    '.\u017fervice',
    '.G\u0131t',
  ];
  const free = [
    '.gitignore',
    '.github/x',
    'git',
    'service',
    '.services',
    'a.git',
    '.git-x',
    '..git',
    'x/.gitmodules',
    '\xff.git',
  ];

  test.for(reserved)('are told in every spelling: %j', (path) => {
    expect(isReserved(toBytePath(path))).toBe(true);
  });

  test.for(free)('are not seen in %j', (path) => {
    expect(isReserved(toBytePath(path))).toBe(false);
  });
});

describe('parseRange', () => {
  const ranges: [string | undefined, unknown][] = [
    [undefined, null],
    ['bytes=0-0', { first: 0, last: 0 }],
    ['bytes=0-', { first: 0, last: 9 }],
    ['bytes=9-9', { first: 9, last: 9 }],
    ['bytes=5-99', { first: 5, last: 9 }],
    ['bytes=-1', { first: 9, last: 9 }],
    ['bytes=-10', { first: 0, last: 9 }],
    ['bytes=-11', { first: 0, last: 9 }],
    ['bytes=10-', 'unsatisfiable'],
    ['bytes=10-11', 'unsatisfiable'],
    ['bytes=-0', 'unsatisfiable'],
    ['bytes=99999999999999999999-', 'unsatisfiable'],
    ['bytes=5-4', null],
    ['bytes=-', null],
    ['bytes=0-1,3-4', null],
    ['bytes=a-b', null],
    ['lines=0-1', null],
    ['0-1', null],
  ];

  test.for(ranges)('of ten bytes, takes %s as %j', ([header, expected]) => {
    expect(parseRange(header, 10)).toEqual(expected);
  });

  test('of nothing, finds no range', () => {
    for (const header of ['bytes=0-', 'bytes=-1', 'bytes=0-0'])
      expect(parseRange(header, 0)).toBe('unsatisfiable');
  });
});

describe('conditions', () => {
  const hash = `sha256:${'a'.repeat(64)}`;
  const other = `"sha256:${'b'.repeat(64)}"`;
  const refused =
    (ifMatch: string | undefined, ifNoneMatch: string | undefined, current: string | null) => () =>
      checkConditions({ ifMatch, ifNoneMatch }, current);

  test('let through what fits, and all where nothing is demanded', () => {
    for (const current of [hash, null]) refused(undefined, undefined, current)();
    for (const ifMatch of [`"${hash}"`, hash, '*', `${other}, "${hash}"`])
      refused(ifMatch, undefined, hash)();
    for (const ifNoneMatch of ['*', other, `"${hash}"`]) refused(undefined, ifNoneMatch, null)();
    refused(undefined, other, hash)();
  });

  test('refuse with the current tag what does not; what can not be read matches nothing', () => {
    for (const ifMatch of [other, `W/"${hash}"`, '', 'nonsense', `"${hash}`])
      expect(refused(ifMatch, undefined, hash)).toThrow(
        expect.objectContaining({ code: 'conflict', members: { etag: hash } }),
      );
    for (const ifMatch of ['*', `"${hash}"`])
      expect(refused(ifMatch, undefined, null)).toThrow(expect.objectContaining({ members: { etag: null } }));
    for (const ifNoneMatch of ['*', `"${hash}"`, `W/"${hash}"`])
      expect(refused(undefined, ifNoneMatch, hash)).toThrow(expect.objectContaining({ code: 'conflict' }));
  });

  test('compare weakly only where that is asked for', () => {
    expect([matches(`W/"${hash}"`, hash, 'weak'), matches(`W/"${hash}"`, hash, 'strong')]).toEqual([
      true,
      false,
    ]);
  });
});

describe('cutLine', () => {
  test('counts characters, and leaves a line of 240 bytes whole', () => {
    expect(cutLine(Buffer.from('é😀x'), 6)).toEqual({ column: 3, text: 'é😀x' });
    expect(cutLine(Buffer.alloc(240, 'a'), 239)).toEqual({ column: 240, text: 'a'.repeat(240) });
  });

  test('cuts a longer one around the match, between characters', () => {
    const line = Buffer.from(`${'é'.repeat(500)}match${'é'.repeat(500)}`);
    const { column, text } = cutLine(line, 1000);
    expect(column).toBe(501);
    expect(text).toMatch(/^…é+matché+…$/);
    expect(cutLine(Buffer.alloc(241, 'a'), 0).text).toBe(`${'a'.repeat(240)}…`);
    expect(cutLine(Buffer.alloc(241, 'a'), 240).text).toBe(`…${'a'.repeat(240)}`);
  });
});
