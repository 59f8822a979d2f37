import { expect, test } from 'vitest';
import { linesPerChunk } from './line-chunk.ts';
import { LineSearch } from './line-search.ts';
import { LineStore, storeLimits } from './line-store.ts';

const esc = String.fromCharCode(27);

function add(store: LineStore, ...lines: string[]): void {
  for (const line of lines) store.appendText('stdout', line, false);
}

function searched(store: LineStore, query: string, matchCase = false): LineSearch {
  const search = new LineSearch(store, { query, matchCase });
  finish(search);
  return search;
}

function finish(search: LineSearch): void {
  while (!search.done) search.step();
}

test('finds lines by their visible text, whatever their case', () => {
  const store = new LineStore();
  add(store, 'Äpfel', `a${esc}[31mP${esc}[0mple`, 'pear', 'APPLE apple');
  expect(searched(store, 'apple').count).toBe(2);
  expect(searched(store, 'äPFEL').count).toBe(1);
  expect(searched(store, 'apple', true).next(0)).toEqual({ row: 3, ordinal: 1 });
  expect(searched(store, 'melon').next(0)).toBeUndefined();
});

test('does not find what begins in one line and ends in the next', () => {
  const store = new LineStore();
  add(store, 'one', 'two');
  expect(searched(store, 'etw').count).toBe(0);
});

test('goes round at both ends', () => {
  const store = new LineStore();
  add(store, 'x', 'hit', 'x', 'hit', 'x');
  const search = searched(store, 'hit');
  expect(search.next(2)).toEqual({ row: 3, ordinal: 2 });
  expect(search.next(4)).toEqual({ row: 1, ordinal: 1 });
  expect(search.previous(2)).toEqual({ row: 1, ordinal: 1 });
  expect(search.previous(0)).toEqual({ row: 3, ordinal: 2 });
  expect(search.previous(3)).toEqual({ row: 3, ordinal: 2 });
});

test('searches what is added while it goes on, and again what has grown', () => {
  const store = new LineStore();
  add(store, 'x', 'nee');
  const search = searched(store, 'needle');
  store.onRowGrown = (row) => search.rescan(row);
  expect(search.count).toBe(0);
  store.appendText('stdout', 'dle', true);
  add(store, 'another needle');
  expect(search.done).toBe(false);
  finish(search);
  expect(search.count).toBe(2);
});

test('forgets matches in lines that were dropped', () => {
  const store = new LineStore({ ...storeLimits, maxLines: linesPerChunk * 2 });
  for (let line = 0; line < linesPerChunk; line++) add(store, 'hit');
  const search = searched(store, 'hit');
  expect(search.count).toBe(linesPerChunk);
  for (let line = 0; line < linesPerChunk * 4; line++) add(store, 'other');
  finish(search);
  expect(store.first).toBeGreaterThanOrEqual(linesPerChunk);
  expect(search.count).toBe(0);
  expect(search.next(0)).toBeUndefined();
});
