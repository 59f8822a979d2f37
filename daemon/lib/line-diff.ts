import { isUtf8 } from 'node:buffer';
import { structuredPatch } from 'diff';

/** A part of a diff in the unified format's terms; lines begin with a space, `-` or `+`. */
export interface DiffHunk {
  readonly old_start: number;
  readonly old_lines: number;
  readonly new_start: number;
  readonly new_lines: number;
  readonly lines: string[];
}

export interface LineDiff {
  readonly hunks: DiffHunk[];
  /** One side has NUL or is not UTF-8. */
  readonly binary?: true;
  /** Too large to be worth keeping: no hunks. */
  readonly truncated?: true;
}

/** A diff with more text than this is left out. */
const maxDiffBytes = 256 * 1024;
const maxInputBytes = 2 * 1024 * 1024;
/** Looking for the shortest diff takes time with the square of its length: this many lines take about 20 ms. */
const maxEdits = 500;
const contextLines = 3;

/** The difference of two contents by lines, with three lines of context; null stands for no file. Takes milliseconds. */
export function lineDiff(before: Uint8Array | null, after: Uint8Array | null): LineDiff {
  const old = before ?? empty;
  const now = after ?? empty;
  if (isBinary(old) || isBinary(now)) return { hunks: [], binary: true };
  if (old.length > maxInputBytes || now.length > maxInputBytes) return { hunks: [], truncated: true };
  const hunks = hunksOf(text(old), text(now));
  if (bytesOf(hunks) > maxDiffBytes) return { hunks: [], truncated: true };
  return { hunks };
}

const empty = Buffer.alloc(0);

function hunksOf(old: string, now: string): DiffHunk[] {
  if (old === now) return [];
  // New, emptied and rewritten files are the usual case, and need no search for what is shared.
  const oldLines = linesOf(old);
  const newLines = linesOf(now);
  if (haveNothingInCommon(oldLines, newLines)) return [coarseHunk(oldLines, newLines)];
  const patch = structuredPatch('', '', old, now, undefined, undefined, {
    context: contextLines,
    maxEditLength: maxEdits,
  });
  if (patch === undefined) return [coarseHunk(oldLines, newLines)];
  return patch.hunks.map((hunk) => ({
    old_start: hunk.oldStart,
    old_lines: hunk.oldLines,
    new_start: hunk.newStart,
    new_lines: hunk.newLines,
    lines: hunk.lines,
  }));
}

function haveNothingInCommon(old: readonly string[], now: readonly string[]): boolean {
  if (old.length === 0 || now.length === 0) return true;
  const lines = new Set(old);
  return now.every((line) => !lines.has(line));
}

/** True but not the shortest: all between the lines that both begin with and both end with is replaced. */
function coarseHunk(old: readonly string[], now: readonly string[]): DiffHunk {
  const shorter = Math.min(old.length, now.length);
  let head = 0;
  while (head < shorter && old[head] === now[head]) head += 1;
  let tail = 0;
  while (tail < shorter - head && old.at(-1 - tail) === now.at(-1 - tail)) tail += 1;
  const from = Math.max(0, head - contextLines);
  const after = Math.max(0, tail - contextLines);
  const oldLines = old.slice(from, old.length - after);
  const newLines = now.slice(from, now.length - after);
  return {
    old_start: oldLines.length === 0 ? from : from + 1,
    old_lines: oldLines.length,
    new_start: newLines.length === 0 ? from : from + 1,
    new_lines: newLines.length,
    lines: [
      ...marked(' ', old.slice(from, head)),
      ...marked('-', old.slice(head, old.length - tail)),
      ...marked('+', now.slice(head, now.length - tail)),
      ...marked(' ', old.slice(old.length - tail, old.length - after)),
    ],
  };
}

function marked(mark: string, lines: readonly string[]): string[] {
  return lines.flatMap((line) =>
    line.endsWith('\n') ? [mark + line.slice(0, -1)] : [mark + line, '\\ No newline at end of file'],
  );
}

/** Each with its line feed, which the last may not have. */
function linesOf(content: string): string[] {
  const lines: string[] = [];
  for (let at = 0; at < content.length; ) {
    const feed = content.indexOf('\n', at);
    const end = feed < 0 ? content.length : feed + 1;
    lines.push(content.slice(at, end));
    at = end;
  }
  return lines;
}

function text(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}

function isBinary(bytes: Uint8Array): boolean {
  return bytes.includes(0) || !isUtf8(bytes);
}

function bytesOf(hunks: readonly DiffHunk[]): number {
  let bytes = 0;
  for (const { lines } of hunks) for (const line of lines) bytes += Buffer.byteLength(line) + 1;
  return bytes;
}
