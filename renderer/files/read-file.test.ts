import { expect, test } from 'vitest';
import { textOf } from './read-file.ts';

test('UTF-8 is text, and encodes back to the very bytes, byte order mark and all', () => {
  const bytes = new Uint8Array([0xef, 0xbb, 0xbf, 0x61, 0x0d, 0x0a, 0xf0, 0x9f, 0xa6, 0x80]);
  expect(new TextEncoder().encode(textOf(bytes))).toEqual(bytes);
  expect(textOf(new Uint8Array(0))).toBe('');
});

test('NUL bytes, cut sequences and Latin-1 are no text: an editor would change them', () => {
  expect(textOf(new Uint8Array([0x61, 0, 0x62]))).toBeUndefined();
  expect(textOf(new Uint8Array([0x61, 0xc3]))).toBeUndefined();
  expect(textOf(new Uint8Array([0xe4, 0x20]))).toBeUndefined();
});
