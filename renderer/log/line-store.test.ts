import { expect, test } from 'vitest';
import { plainStyle } from './ansi.ts';
import { linesPerChunk } from './line-chunk.ts';
import { LineStore, storeLimits } from './line-store.ts';

const esc = String.fromCharCode(27);

function plain(store: LineStore, text: string): void {
  const bytes = new TextEncoder().encode(text);
  store.appendPlain('stdout', bytes, 0, bytes.length);
}

function filled(lines: number, limits = storeLimits): LineStore {
  const store = new LineStore(limits);
  for (let line = 1; line <= lines; line++) plain(store, `line ${line}`);
  return store;
}

test('answers each line over the borders of chunks', () => {
  const store = filled(linesPerChunk * 2 + 1);
  for (const row of [0, 1, linesPerChunk - 1, linesPerChunk, linesPerChunk * 2 - 1, linesPerChunk * 2]) {
    expect(store.line(row)).toMatchObject({ text: `line ${row + 1}`, number: row + 1, kind: 'stdout' });
  }
  expect(store.line(linesPerChunk * 2 + 1)).toBeUndefined();
  expect(store.line(-1)).toBeUndefined();
});

test('drops the oldest lines at the limit, and what is left keeps its row and its number', () => {
  const store = filled(linesPerChunk * 5, { ...storeLimits, maxLines: linesPerChunk * 3 });
  expect(store.first).toBeGreaterThan(0);
  expect(store.end).toBe(linesPerChunk * 5);
  expect(store.end - store.first).toBeLessThanOrEqual(linesPerChunk * 4);
  expect(store.line(store.first - 1)).toBeUndefined();
  expect(store.line(store.first)?.text).toBe(`line ${store.first + 1}`);
  expect(store.line(store.end - 1)?.number).toBe(linesPerChunk * 5);
});

test('drops the oldest lines when they are too many bytes', () => {
  const store = new LineStore({ ...storeLimits, maxBytes: 3 * 1024 * 1024 });
  for (let line = 0; line < 100; line++) plain(store, 'x'.repeat(100_000));
  expect(store.first).toBeGreaterThan(0);
  expect(store.end).toBe(100);
  expect(store.line(99)?.bytes).toBe(100_000);
});

test('joins what continues a line, up to the limit, and then goes on in a marked row', () => {
  const store = new LineStore({ ...storeLimits, maxJoinedBytes: 10 });
  const grown: number[] = [];
  store.onRowGrown = (row) => grown.push(row);
  plain(store, 'before');
  store.appendText('stdout', '12345', false);
  store.appendText('stdout', '67890', true);
  expect(store.end).toBe(2);
  expect(store.line(1)?.text).toBe('1234567890');
  expect(grown).toEqual([1]);
  store.appendText('stdout', 'x', true);
  expect(store.line(2)).toMatchObject({ text: 'x', continued: true, number: 2 });
  plain(store, 'after');
  expect(store.line(3)).toMatchObject({ text: 'after', continued: false, number: 3 });
});

test('does not join a line of one stream to a line of the other', () => {
  const store = new LineStore();
  store.appendText('stdout', 'out', false);
  store.appendText('stderr', 'err', false);
  store.appendText('stdout', 'more', true);
  expect([0, 1, 2].map((row) => store.line(row)?.text)).toEqual(['out', 'err', 'more']);
  expect(store.line(2)?.continued).toBe(true);
});

test('remembers the style that each stream left on', () => {
  const store = new LineStore();
  store.appendText('stdout', `${esc}[31mred`, false);
  store.appendText('stderr', 'warning', false);
  plain(store, 'still red');
  store.appendText('stdout', `${esc}[0m`, false);
  plain(store, 'plain');
  expect(store.line(1)?.style).toEqual(plainStyle);
  expect(store.line(2)?.style).toEqual({ fg: 1, attributes: 0 });
  expect(store.line(4)?.style).toEqual(plainStyle);
});

test('counts the lines of a gap as lines, and tells how many are missing', () => {
  const store = filled(2);
  store.appendGap(1204);
  plain(store, 'after');
  expect(store.line(2)).toMatchObject({ kind: 'gap', number: 1204 });
  expect(store.line(3)?.number).toBe(1207);
  expect([store.lines, store.missing]).toEqual([1207, 1204]);
});

test('shows what a carriage return leaves to be seen', () => {
  const store = new LineStore();
  store.appendText('stdout', '10%\r50%\r100%', false);
  store.appendText('stdout', 'progress\r', false);
  expect([store.line(0)?.text, store.line(1)?.text]).toEqual(['100%', 'progress']);
});

test('answers the visible text by chunks, from any row', () => {
  const store = filled(linesPerChunk);
  store.appendText('stdout', `${esc}[1mbold${esc}[0m`, false);
  const first = store.chunkText(linesPerChunk - 2);
  expect(first).toEqual({ text: `line ${linesPerChunk - 1}\nline ${linesPerChunk}\n`, next: linesPerChunk });
  expect(store.chunkText(linesPerChunk)).toEqual({ text: 'bold\n', next: linesPerChunk + 1 });
});

test('reads no more of a long line than it is asked for', () => {
  const store = new LineStore();
  plain(store, 'x'.repeat(100_000));
  expect(store.line(0, 10)).toMatchObject({ text: 'x'.repeat(10), bytes: 100_000 });
  expect(store.widest).toBe(100_000);
});
