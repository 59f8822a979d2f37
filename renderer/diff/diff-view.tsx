import { useMemo, useState } from 'react';
import type { Hunk } from '../../daemon/contract/receipts.ts';
import { Button } from '../ui/button.tsx';
import { type DiffLine, type DiffRow, diffRows } from './diff-rows.ts';

/** A change line by line: numbers before and after, removed and added lines by sign and colour. */
export function DiffView({ hunks, label }: { hunks: Hunk[]; label: string }) {
  const rows = useMemo(() => diffRows(hunks), [hunks]);
  const [whole, setWhole] = useState(false);
  const shown = whole ? rows : rows.slice(0, firstRows);
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard */}
      <section className="diff" aria-label={label} tabIndex={0}>
        <table>
          <thead className="sr-only">
            <tr>
              <th>Line before</th>
              <th>Line after</th>
              <th>Text</th>
            </tr>
          </thead>
          <tbody>
            {shown.map((row, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the rows of one diff never move
              <Row key={index} row={row} />
            ))}
          </tbody>
        </table>
      </section>
      {shown.length < rows.length && (
        <div className="border-t border-line p-1.5">
          <Button small variant="ghost" onClick={() => setWhole(true)}>
            Show {(rows.length - shown.length).toLocaleString('en')} more lines
          </Button>
        </div>
      )}
    </>
  );
}

/** So that a change of thousands of lines does not hold up those around it. */
const firstRows = 400;

function Row({ row }: { row: DiffRow }) {
  if (row.kind === 'hunk' || row.kind === 'note')
    return (
      <tr data-kind={row.kind}>
        <td colSpan={2} className="diff-number" />
        <td className="diff-text">{row.text}</td>
      </tr>
    );
  return (
    <tr data-kind={row.kind}>
      <td className="diff-number" data-number={row.before ?? ''} />
      <td className="diff-number" data-number={row.after ?? ''} />
      <td className="diff-text">
        <span className="diff-sign">{signs[row.kind]}</span>
        <Text line={row} />
      </td>
    </tr>
  );
}

const signs = { same: ' ', added: '+', removed: '-' };

function Text({ line: { text, changed } }: { line: DiffLine }) {
  if (changed === undefined || changed.from === changed.to) return text;
  return (
    <>
      {text.slice(0, changed.from)}
      <mark>{text.slice(changed.from, changed.to)}</mark>
      {text.slice(changed.to)}
    </>
  );
}
