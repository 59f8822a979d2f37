import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { lineDiff } from './line-diff.ts';

const utf8 = (text: string) => Buffer.from(text);

/** The diff in the unified format, and what git makes of it. */
function applied(before: string, after: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'line-diff-'));
  try {
    const { hunks } = lineDiff(utf8(before), utf8(after));
    const patch = hunks.flatMap((hunk) => [
      `@@ -${hunk.old_start},${hunk.old_lines} +${hunk.new_start},${hunk.new_lines} @@`,
      ...hunk.lines,
    ]);
    writeFileSync(join(folder, 'file'), before);
    writeFileSync(join(folder, 'patch'), `--- a/file\n+++ b/file\n${patch.join('\n')}\n`);
    if (hunks.length > 0) execFileSync('git', ['apply', '--unidiff-zero', 'patch'], { cwd: folder });
    return readFileSync(join(folder, 'file'), 'utf8');
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test('git can apply the hunks, whatever the two contents are', () => {
  // A file that is emptied would be removed by git, and one with CR is only split at LF by both.
  const line = fc.constantFrom('a', 'b', '', '  x', 'ä', 'c\r');
  const content = fc
    .tuple(fc.array(line, { minLength: 1, maxLength: 12 }), fc.boolean())
    .map(([lines, closed]) => lines.join('\n') + (closed ? '\n' : 'z'));
  fc.assert(
    fc.property(content, content, (before, after) => applied(before, after) === after),
    { numRuns: 60 },
  );
});

test('says binary where one side has NUL or is not UTF-8, and gives no hunks', () => {
  expect(lineDiff(Buffer.of(0), utf8('a'))).toEqual({ hunks: [], binary: true });
  expect(lineDiff(utf8('a'), Buffer.of(0xff))).toEqual({ hunks: [], binary: true });
});

test('keeps a diff of 256 KiB, and leaves one of a byte more out', () => {
  const at = 'x'.repeat(256 * 1024 - 2);
  expect(lineDiff(null, utf8(`${at}\n`)).hunks).toHaveLength(1);
  expect(lineDiff(null, utf8(`${at}x\n`))).toEqual({ hunks: [], truncated: true });
});

test('replaces all of the middle where the shortest diff would take too long to find', () => {
  const many = (name: string) => Array.from({ length: 900 }, (_, at) => `${name}${at}\n`).join('');
  const before = `1\n2\n3\n4\n${many('a')}same\n${many('b')}5\n6\n7\n8\n`;
  const after = `1\n2\n3\n4\n${many('c')}same\n${many('d')}5\n6\n7\n8\n`;
  const { hunks } = lineDiff(utf8(before), utf8(after));
  expect(hunks.map(({ lines: _, ...counts }) => counts)).toEqual([
    { old_start: 2, old_lines: 1807, new_start: 2, new_lines: 1807 },
  ]);
  expect(applied(before, after)).toBe(after);
});

test('a new file is all added, a removed one all removed', () => {
  expect(lineDiff(null, utf8('a\nb\n')).hunks).toEqual([
    { old_start: 0, old_lines: 0, new_start: 1, new_lines: 2, lines: ['+a', '+b'] },
  ]);
  expect(lineDiff(utf8('a'), null).hunks).toEqual([
    { old_start: 1, old_lines: 1, new_start: 0, new_lines: 0, lines: ['-a', '\\ No newline at end of file'] },
  ]);
});
