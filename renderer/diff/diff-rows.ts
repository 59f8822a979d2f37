import type { Hunk } from '../../daemon/contract/receipts.ts';

type LineKind = 'same' | 'added' | 'removed';

/** A line of a diff. Of a line that replaced a similar one, `changed` is the range that differs. */
export type DiffLine = {
  kind: LineKind;
  before: number | undefined;
  after: number | undefined;
  text: string;
  changed: { from: number; to: number } | undefined;
};

export type DiffRow = DiffLine | { kind: 'hunk'; text: string } | { kind: 'note'; text: string };

/** The rows of a diff viewer: a heading per hunk, then its lines with the numbers they have on either side. */
export function diffRows(hunks: Hunk[]): DiffRow[] {
  return hunks.flatMap((hunk) => [heading(hunk), ...withChanges(linesOf(hunk))]);
}

export function countLines(hunks: Hunk[]): { added: number; removed: number } {
  const count = { added: 0, removed: 0 };
  for (const line of hunks.flatMap((hunk) => hunk.lines)) {
    if (line.startsWith('+')) count.added++;
    else if (line.startsWith('-')) count.removed++;
  }
  return count;
}

function heading({ old_start, old_lines, new_start, new_lines }: Hunk): DiffRow {
  return { kind: 'hunk', text: `@@ -${old_start},${old_lines} +${new_start},${new_lines} @@` };
}

function linesOf(hunk: Hunk): DiffRow[] {
  let before = hunk.old_start;
  let after = hunk.new_start;
  return hunk.lines.map((line): DiffRow => {
    const text = line.slice(1);
    if (line.startsWith('+'))
      return { kind: 'added', before: undefined, after: after++, text, changed: undefined };
    if (line.startsWith('-'))
      return { kind: 'removed', before: before++, after: undefined, text, changed: undefined };
    // Diffs say so where a file does not end with a line break.
    if (line.startsWith('\\')) return { kind: 'note', text: text.trim() };
    return { kind: 'same', before: before++, after: after++, text, changed: undefined };
  });
}

/** Where as many lines were added as were removed just before, each is compared with its counterpart. */
function withChanges(rows: DiffRow[]): DiffRow[] {
  const result = [...rows];
  for (let at = 0; at < rows.length; ) {
    const removed = runLength(rows, at, 'removed');
    const added = runLength(rows, at + removed, 'added');
    if (removed > 0 && removed === added)
      for (let line = at; line < at + removed; line++) mark(result, line, line + removed);
    at += Math.max(1, removed + added);
  }
  return result;
}

function runLength(rows: DiffRow[], from: number, kind: LineKind): number {
  let end = from;
  while (rows[end]?.kind === kind) end++;
  return end - from;
}

function mark(rows: DiffRow[], removedAt: number, addedAt: number): void {
  const removed = rows[removedAt];
  const added = rows[addedAt];
  if (removed?.kind !== 'removed' || added?.kind !== 'added') return;
  const shorter = Math.min(removed.text.length, added.text.length);
  let start = 0;
  while (start < shorter && removed.text[start] === added.text[start]) start++;
  let end = 0;
  while (end < shorter - start && removed.text.at(-1 - end) === added.text.at(-1 - end)) end++;
  // Lines that have little in common are easier to read without.
  if (start + end < shorter * 0.4) return;
  rows[removedAt] = { ...removed, changed: { from: start, to: removed.text.length - end } };
  rows[addedAt] = { ...added, changed: { from: start, to: added.text.length - end } };
}
