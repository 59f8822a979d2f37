import { expect, test } from 'vitest';
import { countLines, diffRows } from './diff-rows.ts';

const hunk = {
  old_start: 10,
  old_lines: 3,
  new_start: 12,
  new_lines: 3,
  lines: [' same', '-const a = 1;', '+const a = 22;', ' end', '\\ No newline at end of file'],
};

test('every line bears the number it has on its side of the change', () => {
  expect(diffRows([hunk])).toMatchObject([
    { kind: 'hunk', text: '@@ -10,3 +12,3 @@' },
    { kind: 'same', before: 10, after: 12, text: 'same' },
    { kind: 'removed', before: 11, after: undefined, text: 'const a = 1;' },
    { kind: 'added', before: undefined, after: 13, text: 'const a = 22;' },
    { kind: 'same', before: 12, after: 14, text: 'end' },
    { kind: 'note', text: 'No newline at end of file' },
  ]);
});

test('of a line that was replaced by a similar one, only what differs is marked', () => {
  const [, , removed, added] = diffRows([hunk]);
  expect(removed).toMatchObject({ changed: { from: 10, to: 11 } });
  expect(added).toMatchObject({ changed: { from: 10, to: 12 } });
});

test('lines with little in common, or of unequal number, are not compared', () => {
  const unlike = diffRows([{ ...hunk, lines: ['-alpha beta', '+gamma'] }]);
  expect(unlike.slice(1)).toMatchObject([{ changed: undefined }, { changed: undefined }]);
  const unequal = diffRows([{ ...hunk, lines: ['-const a = 1;', '+const a = 2;', '+const b = 2;'] }]);
  expect(unequal.slice(1)).toMatchObject([
    { changed: undefined },
    { changed: undefined },
    { changed: undefined },
  ]);
});

test('a line that was only added to marks what was added, and nothing on the other side', () => {
  const [, removed, added] = diffRows([{ ...hunk, lines: ['-call(a)', '+call(a, b)'] }]);
  expect(removed).toMatchObject({ changed: { from: 6, to: 6 } });
  expect(added).toMatchObject({ changed: { from: 6, to: 9 } });
});

test('counts added and removed lines, and nothing else', () => {
  expect(countLines([hunk, hunk])).toEqual({ added: 2, removed: 2 });
  expect(countLines([])).toEqual({ added: 0, removed: 0 });
});
