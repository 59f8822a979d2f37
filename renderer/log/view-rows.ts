import { type AnsiSpan, parseAnsi } from './ansi.ts';
import type { LineStore } from './line-store.ts';
import { findAll, type SearchTerm } from './search-term.ts';

export type ViewRow = {
  row: number;
  kind: 'stdout' | 'stderr' | 'gap';
  continued: boolean;
  /** For a gap: how many lines are missing. */
  number: number;
  spans: AnsiSpan[];
  /** Bytes of the line that are not shown because it is longer than a view can bear. */
  hiddenBytes: number;
  /** Ranges of the visible text that match the search, as [start, end) in UTF-16 units. */
  marks: [number, number][];
};

/** Longer lines are cut in the view (never in what is copied or saved): laying them out would stop the page. */
const maxShownBytes = 8192;

/** The rows from `from` up to `to` as the view shows them, as far as the store has them. */
export function viewRows(
  store: LineStore,
  from: number,
  to: number,
  term: SearchTerm | undefined,
): ViewRow[] {
  const rows: ViewRow[] = [];
  for (let row = Math.max(from, store.first); row < Math.min(to, store.end); row++) {
    const line = store.line(row, maxShownBytes);
    if (line === undefined) continue;
    const { spans } = parseAnsi(line.text, line.style);
    const marks = term === undefined ? [] : findAll(spans.map((span) => span.text).join(''), term);
    rows.push({
      row,
      kind: line.kind,
      continued: line.continued,
      number: line.number,
      spans,
      hiddenBytes: Math.max(0, line.bytes - maxShownBytes),
      marks,
    });
  }
  return rows;
}
