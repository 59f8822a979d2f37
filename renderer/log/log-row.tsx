import { type CSSProperties, memo, type ReactNode } from 'react';
import { bytesWords, countWords } from '../ui/time-words.ts';
import { type AnsiSpan, type AnsiStyle, attribute, trueColor } from './ansi.ts';
import type { ViewRow } from './view-rows.ts';

type LogRowProps = {
  row: ViewRow;
  /** How wide the numbers are, in figures; 0 hides them. */
  numberWidth: number;
  selected: boolean;
  current: boolean;
};

export const LogRow = memo(function LogRow({ row, numberWidth, selected, current }: LogRowProps) {
  return (
    <div
      className="log-row"
      data-row={row.row}
      data-kind={row.kind}
      data-selected={selected || undefined}
      data-match={current || undefined}
    >
      {numberWidth > 0 && (
        <span
          className="log-number"
          data-number={row.kind === 'gap' ? '' : row.continued ? '↪' : row.number}
          style={{ width: `calc(${numberWidth}ch + 20px)` }}
        />
      )}
      <span className={numberWidth > 0 ? 'log-text' : 'log-text pl-3'}>
        {row.kind === 'gap' ? `${countWords(row.number, 'line')} not kept` : styledText(row)}
        {row.hiddenBytes > 0 && (
          <span className="text-faint"> … {bytesWords(row.hiddenBytes)} more in this line</span>
        )}
      </span>
    </div>
  );
});

/** The row's spans, cut where a search match begins or ends. */
function styledText(row: ViewRow): ReactNode[] {
  const parts: ReactNode[] = [];
  let at = 0;
  for (const span of row.spans) {
    for (const [text, marked] of cutAtMarks(span, at, row.marks)) {
      const key = parts.length;
      // A match shows in the mark's own colours: a program's might not be read on them.
      parts.push(marked ? <mark key={key}>{text}</mark> : colored(text, span.style, key));
    }
    at += span.text.length;
  }
  return parts;
}

function cutAtMarks(span: AnsiSpan, at: number, marks: [number, number][]): [string, boolean][] {
  const end = at + span.text.length;
  const pieces: [string, boolean][] = [];
  let from = at;
  for (const [markStart, markEnd] of marks) {
    const start = Math.max(from, markStart);
    const stop = Math.min(end, markEnd);
    if (start >= stop) continue;
    if (start > from) pieces.push([span.text.slice(from - at, start - at), false]);
    pieces.push([span.text.slice(start - at, stop - at), true]);
    from = stop;
  }
  if (from < end) pieces.push([span.text.slice(from - at), false]);
  return pieces;
}

function colored(text: string, style: AnsiStyle, key: number): ReactNode {
  if (style.fg === undefined && style.bg === undefined && style.attributes === 0) return text;
  const looks = cssOf(style);
  return (
    <span key={key} {...looks}>
      {text}
    </span>
  );
}

type Looks = { style: CSSProperties & { '--rgb'?: string }; className?: string };

function cssOf({ fg, bg, attributes }: AnsiStyle): Looks {
  const inverse = (attributes & attribute.inverse) !== 0;
  const front = inverse
    ? bg === undefined
      ? 'var(--log)'
      : colorOf(bg)
    : fg === undefined
      ? undefined
      : colorOf(fg);
  const back = inverse
    ? fg === undefined
      ? 'var(--log-text)'
      : colorOf(fg)
    : bg === undefined
      ? undefined
      : colorOf(bg);
  const lines = [
    attributes & attribute.underline && 'underline',
    attributes & attribute.strike && 'line-through',
  ];
  const style: Looks['style'] = {
    ...(back === undefined ? {} : { backgroundColor: back }),
    ...(attributes & attribute.bold ? { fontWeight: 700 } : {}),
    ...(attributes & attribute.dim ? { opacity: 0.65 } : {}),
    ...(attributes & attribute.italic ? { fontStyle: 'italic' } : {}),
    ...(attributes & attribute.hidden ? { visibility: 'hidden' } : {}),
    ...(lines.some(Boolean) ? { textDecoration: lines.filter(Boolean).join(' ') } : {}),
  };
  if (front === undefined && back !== undefined)
    return { style: { ...style, '--rgb': back }, className: 'log-on' };
  if (front === undefined) return { style };
  // With a background of its own the program knew what the text would stand on.
  const adapts = !inverse && back === undefined && fg !== undefined && fg > 15;
  return adapts
    ? { style: { ...style, '--rgb': front }, className: 'log-rgb' }
    : { style: { ...style, color: front } };
}

const cubeSteps = [0, 95, 135, 175, 215, 255];

function colorOf(color: number): string {
  if (color >= trueColor) return `rgb(${(color >> 16) & 255} ${(color >> 8) & 255} ${color & 255})`;
  if (color < 16) return `var(--ansi-${color})`;
  if (color >= 232) {
    const grey = 8 + (color - 232) * 10;
    return `rgb(${grey} ${grey} ${grey})`;
  }
  const cube = color - 16;
  const step = (value: number) => cubeSteps[value % 6] ?? 0;
  return `rgb(${step(Math.floor(cube / 36))} ${step(Math.floor(cube / 6))} ${step(cube)})`;
}
