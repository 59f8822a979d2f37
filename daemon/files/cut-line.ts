/** Bytes of a long line that are shown before the match, and in all. */
const lead = 60;
const shown = 240;

/**
 * What is shown of a matching line: where the match begins, in characters from 1, and the text, cut around the match
 * where the line is long. Bytes that are not UTF-8 become U+FFFD.
 *
 * @param line without its line end
 * @param start position of the match in it, in bytes
 */
export function cutLine(line: Buffer, start: number): { readonly column: number; readonly text: string } {
  let column = 1;
  for (let at = 0; at < start; at += 1) if (!isContinuation(line[at])) column += 1;
  if (line.length <= shown) return { column, text: line.toString('utf8') };
  const from = toBoundary(line, Math.max(0, Math.min(start - lead, line.length - shown)));
  const to = toBoundary(line, Math.min(line.length, from + shown));
  const text = line.toString('utf8', from, to);
  return { column, text: `${from > 0 ? '…' : ''}${text}${to < line.length ? '…' : ''}` };
}

const isContinuation = (byte: number | undefined) => byte !== undefined && (byte & 0xc0) === 0x80;

function toBoundary(line: Buffer, at: number): number {
  let boundary = at;
  while (boundary > 0 && at - boundary < 4 && isContinuation(line[boundary])) boundary -= 1;
  return boundary;
}
