import { crc32 } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { hashKey, newKey, previewKey, readKeyEnvironment } from './key-format.ts';

// Computed with Python: zlib.crc32 of the first part in base62 (0-9A-Za-z), and hashlib.sha256 of the whole.
const goldenBody = 'tly_live_abcdefghijklmnopqrstuvwxyz0123';

describe('a new key', () => {
  test('has its environment, 30 random and 6 check characters', () => {
    expect(newKey('live')).toMatch(/^tly_live_[0-9A-Za-z]{36}$/);
    expect(newKey('test')).toMatch(/^tly_test_[0-9A-Za-z]{36}$/);
    expect(new Set(Array.from({ length: 1000 }, () => newKey('live'))).size).toBe(1000);
  });

  test('is read back with its environment', () => {
    for (const env of ['live', 'test'] as const)
      for (let count = 0; count < 200; count += 1) expect(readKeyEnvironment(newKey(env))).toBe(env);
  });

  test('is refused with any one character changed, two swapped, one more or one less', () => {
    const key = newKey('live');
    const start = 'tly_live_'.length;
    for (let at = start; at < key.length; at += 1) {
      const changed = key[at] === 'Z' ? 'Y' : 'Z';
      expect(readKeyEnvironment(key.slice(0, at) + changed + key.slice(at + 1))).toBeUndefined();
      expect(readKeyEnvironment(key.slice(0, at) + key.slice(at + 1))).toBeUndefined();
      expect(readKeyEnvironment(`${key.slice(0, at)}a${key.slice(at)}`)).toBeUndefined();
      const [one, two] = [key[at], key[at + 1]];
      if (one !== two && two !== undefined)
        expect(readKeyEnvironment(key.slice(0, at) + two + one + key.slice(at + 2))).toBeUndefined();
    }
    expect(readKeyEnvironment(key.replace('live', 'test'))).toBeUndefined();
    expect(readKeyEnvironment(`${key}\n`)).toBeUndefined();
  });
});

describe('the check characters', () => {
  test('are the CRC-32 of what precedes them', () => {
    const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
    const key = newKey('test');
    const value = [...key.slice(-6)].reduce((sum, digit) => sum * 62 + digits.indexOf(digit), 0);
    expect(value).toBe(crc32(key.slice(0, -6)));
  });

  test('and the stored hash are what other tools compute', () => {
    expect(readKeyEnvironment(`${goldenBody}1WTMci`)).toBe('live');
    expect(hashKey(`${goldenBody}1WTMci`)).toBe(
      '985884acf6b98bd73cec4aed54c6b25c69d347acdab449fba216b58a6b5c081c',
    );
  });
});

test('a preview shows the first twelve characters', () => {
  expect(previewKey(`${goldenBody}1WTMci`)).toBe('tly_live_abc***');
});
