import { isUtf8 } from 'node:buffer';
import { CodedError } from '../contract/errors.ts';
import type { TextEdit } from '../contract/files.ts';
import { Turns } from '../lib/turns.ts';

export interface EditedText {
  readonly content: Buffer;
  readonly replacements: number;
}

/**
 * Applies exact-match replacements in order, each to the result of those before, all or none. Bytes that no edit names
 * stay as they are: byte order mark, line ends, a missing newline at the end.
 *
 * @throws CodedError not_a_text_file, edit_not_found, edit_ambiguous (with `edit`, `count` and `lines`), invalid_request
 */
export async function applyEdits(
  content: Buffer,
  edits: readonly TextEdit[],
  maxBytes: number,
): Promise<EditedText> {
  if (!isUtf8(content) || content.includes(0))
    throw new CodedError('not_a_text_file', 'The file is not UTF-8 text; edits work on text only.');
  let edited = content;
  let replacements = 0;
  const turns = new Turns();
  for (const [index, edit] of edits.entries()) {
    const count = countMatches(edited, edit, index);
    edited = replaceAll(edited, edit, { count, maxBytes });
    replacements += count;
    await turns.pause();
  }
  return { content: edited, replacements };
}

const maxMatches = 100_000;
const maxLines = 20;

/** UTF-8 bytes match where characters do: no character's bytes are found inside another's. */
function countMatches(content: Buffer, { old_text, new_text, all }: TextEdit, index: number): number {
  if (!old_text.isWellFormed() || !new_text.isWellFormed())
    throw new CodedError('invalid_request', `edits.${index}: the text has half a character in it.`);
  const wanted = Buffer.from(old_text);
  // Where one place is meant, places that overlap are two.
  const step = all === true ? wanted.length : 1;
  const first: number[] = [];
  let count = 0;
  for (let at = content.indexOf(wanted); at >= 0; at = content.indexOf(wanted, at + step)) {
    count += 1;
    if (first.length < maxLines) first.push(at);
    if (count > maxMatches)
      throw new CodedError(
        'edit_ambiguous',
        `edits.${index}: old_text is in the file more than ${maxMatches} times.`,
        { members: { edit: index, count, lines: linesOf(content, first) } },
      );
  }
  if (count === 0) throw notFound(content, old_text, index);
  if (count > 1 && all !== true) throw ambiguous(linesOf(content, first), { count, index });
  return count;
}

function notFound(content: Buffer, oldText: string, index: number): CodedError {
  const otherEnds = oldText.includes('\r\n')
    ? oldText.replaceAll('\r\n', '\n')
    : oldText.replaceAll('\n', '\r\n');
  const hint =
    otherEnds !== oldText && content.includes(otherEnds) ? ' It is there with other line ends.' : '';
  return new CodedError(
    'edit_not_found',
    `edits.${index}: old_text is not in the file.${hint} Nothing was changed.`,
    {
      members: { edit: index },
    },
  );
}

function ambiguous(lines: readonly number[], { count, index }: { count: number; index: number }): CodedError {
  const more = count > lines.length ? ' …' : '';
  return new CodedError(
    'edit_ambiguous',
    `edits.${index}: old_text is in the file ${count} times (lines ${lines.join(', ')}${more}); give more of what is around it, or all: true. Nothing was changed.`,
    { members: { edit: index, count, lines } },
  );
}

/** Line numbers, from 1, of ascending byte positions. */
function linesOf(content: Buffer, positions: readonly number[]): number[] {
  const lines: number[] = [];
  let line = 1;
  let newline = content.indexOf(10);
  for (const position of positions) {
    while (newline >= 0 && newline < position) {
      line += 1;
      newline = content.indexOf(10, newline + 1);
    }
    lines.push(line);
  }
  return lines;
}

function replaceAll(
  content: Buffer,
  { old_text, new_text }: TextEdit,
  { count, maxBytes }: { count: number; maxBytes: number },
): Buffer {
  const removed = Buffer.from(old_text);
  const added = Buffer.from(new_text);
  const size = content.length + count * (added.length - removed.length);
  if (size > maxBytes)
    throw new CodedError('file_too_large', `The file would be larger than ${maxBytes / 1024 / 1024} MiB.`);
  const edited = Buffer.allocUnsafe(size);
  let from = 0;
  let to = 0;
  for (let done = 0; done < count; done += 1) {
    const at = content.indexOf(removed, from);
    to += content.copy(edited, to, from, at);
    to += added.copy(edited, to);
    from = at + removed.length;
  }
  content.copy(edited, to, from);
  return edited;
}
