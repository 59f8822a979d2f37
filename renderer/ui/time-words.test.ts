import { expect, test } from 'vitest';
import { agoWords, bytesWords, countWords, durationWords, untilWords } from './time-words.ts';

const now = Date.parse('2026-06-15T12:00:00.000Z');
const at = (seconds: number) => new Date(now + seconds * 1000).toISOString();

test.each([
  [-1, 'just now'],
  [-44, 'just now'],
  [-45, '1 min ago'],
  [-3600, '60 min ago'],
  [-2 * 3600, '2 h ago'],
  [-30 * 3600, 'yesterday'],
  [-3 * 86_400, '3 days ago'],
  [10, 'just now'],
])('%i s away is "%s"', (seconds, words) => {
  expect(agoWords(at(seconds), now)).toBe(words);
});

test('what is to come is told the same way', () => {
  expect(untilWords(at(30), now)).toBe('in a minute');
  expect(untilWords(at(24 * 3600), now)).toBe('in 24 h');
  expect(untilWords(at(30 * 86_400), now)).toBe('in 30 days');
});

test.each([
  [0, '0 ms'],
  [999, '999 ms'],
  [1000, '1.0 s'],
  [12_400, '12 s'],
  [65_000, '1 min 05 s'],
  [2 * 3_600_000 + 14 * 60_000, '2 h 14 min'],
  [3 * 86_400_000, '3 days 0 h'],
  [-5, '0 ms'],
])('%i ms last "%s"', (ms, words) => {
  expect(durationWords(ms)).toBe(words);
});

test('bytes and counts', () => {
  expect([bytesWords(1023), bytesWords(1024), bytesWords(1024 ** 2 * 1.5)]).toEqual([
    '1023 B',
    '1.0 KiB',
    '1.5 MiB',
  ]);
  expect([countWords(1, 'line'), countWords(1204, 'line')]).toEqual(['1 line', '1,204 lines']);
});
