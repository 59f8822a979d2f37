import { expect, test } from 'vitest';
import { replacement } from './editor-state.ts';

test('changes no more than what differs', () => {
  expect(replacement('one two three', 'one 2 three')).toEqual({ from: 4, to: 7, insert: '2' });
  expect(replacement('same', 'same')).toEqual({ from: 4, to: 4, insert: '' });
});

test('makes the new text of the old one, however they overlap', () => {
  for (const [current, next] of [
    ['', 'a'],
    ['a', ''],
    ['aaa', 'aaaa'],
    ['abab', 'ab'],
    ['ab', 'abab'],
    ['xax', 'xx'],
    ['ä\n', '\nä'],
  ] as const) {
    const { from, to, insert } = replacement(current, next);
    expect(current.slice(0, from) + insert + current.slice(to)).toBe(next);
  }
});
