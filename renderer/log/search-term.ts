export type SearchTerm = { readonly query: string; readonly matchCase: boolean };

/** All places of the term in `text`, without overlaps, as [start, end). */
export function findAll(text: string, term: SearchTerm): [number, number][] {
  const haystack = term.matchCase ? text : text.toLowerCase();
  const needle = needleOf(term);
  const found: [number, number][] = [];
  let at = haystack.indexOf(needle);
  while (at !== -1 && found.length < maxMarks) {
    found.push([at, at + needle.length]);
    at = haystack.indexOf(needle, at + needle.length);
  }
  return found;
}

/** The numbers of the lines in `text` (counted from 0) that hold the term. */
export function matchingLines(text: string, term: SearchTerm): number[] {
  const haystack = term.matchCase ? text : text.toLowerCase();
  const needle = needleOf(term);
  const lines: number[] = [];
  let line = 0;
  let counted = 0;
  let at = haystack.indexOf(needle);
  while (at !== -1) {
    for (let newline = haystack.indexOf('\n', counted); newline !== -1 && newline < at; ) {
      line++;
      counted = newline + 1;
      newline = haystack.indexOf('\n', counted);
    }
    lines.push(line);
    const lineEnd = haystack.indexOf('\n', at);
    if (lineEnd === -1) break;
    at = haystack.indexOf(needle, lineEnd + 1);
  }
  return lines;
}

/** More marks in one line than anyone can tell apart. */
const maxMarks = 500;

function needleOf(term: SearchTerm): string {
  return term.matchCase ? term.query : term.query.toLowerCase();
}
