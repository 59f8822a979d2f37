/** Columns at which `base64` (76) and `openssl base64` (64) begin a new line, and `xxd -p` (60). */
const base64Columns = [76, 64];
const hexColumns = [60];
/** Fewer characters stand for under six bytes of the value: alone, they would be found in output that has none of it. */
const minBase64 = 8;
const minHex = 12;

/**
 * What is the same in the base64 of every text that holds these bytes, whatever stands before and after them: one form
 * for each of the three places a byte can have in a group of three, in the standard and the URL alphabet.
 */
export function base64Forms(bytes: Buffer): string[] {
  return [0, 1, 2].flatMap((before) => {
    const encoded = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
    const first = Math.ceil((8 * before) / 6);
    const end = Math.floor((8 * (before + bytes.length)) / 6);
    return inBothAlphabets(encoded.slice(first, end));
  });
}

export function hexForms(bytes: Buffer): string[] {
  const lower = bytes.toString('hex');
  return [lower, lower.toUpperCase()];
}

/**
 * What depends on where the encoding of the value itself begins and ends: the end of its base64 with the last character
 * and padding, and its lines where base64 or hex is longer than a line of the usual tools.
 */
export function wrappedForms(bytes: Buffer): string[] {
  const encoded = bytes.toString('base64');
  const tail = encoded.slice(-Math.min(encoded.length, 4 * Math.ceil(64 / 3)));
  // A line feed after the value, as echo prints it, changes the character that its last bits share.
  const settled = encoded.slice(0, Math.floor((8 * bytes.length) / 6));
  const lower = bytes.toString('hex');
  return [
    ...inBothAlphabets(tail),
    ...inBothAlphabets(tail.replace(/=+$/, '')),
    ...base64Columns.flatMap((columns) => [
      ...linesOf(encoded, columns, minBase64),
      ...linesOf(settled, columns, minBase64),
    ]),
    ...hexColumns.flatMap((columns) => [
      ...linesOf(lower, columns, minHex),
      ...linesOf(lower.toUpperCase(), columns, minHex),
    ]),
  ];
}

function inBothAlphabets(standard: string): string[] {
  return [standard, standard.replaceAll('+', '-').replaceAll('/', '_')];
}

/** None where it fits one line. A last line too short to be looked for alone is, with the line before it. */
function linesOf(encoded: string, columns: number, minCharacters: number): string[] {
  if (encoded.length <= columns) return [];
  const lines: string[] = [];
  for (let at = 0; at < encoded.length; at += columns) lines.push(encoded.slice(at, at + columns));
  const last = lines.at(-1) ?? '';
  if (last.length < minCharacters) lines.push(`${lines.at(-2)}\n${lines.pop()}`);
  return lines;
}
