/** Colours: `undefined` is the terminal's own, 0–255 the palette, from `trueColor` on 24-bit RGB. */
export type AnsiStyle = {
  readonly fg?: number;
  readonly bg?: number;
  /** Bits of `attribute`. */
  readonly attributes: number;
};

export type AnsiSpan = { readonly text: string; readonly style: AnsiStyle };

export const trueColor = 0x1000000;
export const attribute = {
  bold: 1,
  dim: 2,
  italic: 4,
  underline: 8,
  inverse: 16,
  strike: 32,
  hidden: 64,
} as const;
export const plainStyle: AnsiStyle = { attributes: 0 };

/**
 * Splits a line into styled runs of visible text, beginning in `style` (what the line before left switched on).
 * Escapes other than SGR are dropped, and of an OSC 8 link the text stays.
 */
export function parseAnsi(line: string, style: AnsiStyle): { spans: AnsiSpan[]; style: AnsiStyle } {
  const spans: AnsiSpan[] = [];
  let current = style;
  let from = 0;
  for (const match of line.matchAll(escapes)) {
    pushSpan(spans, line.slice(from, match.index), current);
    from = match.index + match[0].length;
    if (match[1] !== undefined) current = applySgr(match[1], current);
  }
  pushSpan(spans, line.slice(from), current);
  return { spans, style: current };
}

/** The style after `line`, without building its spans. */
export function styleAfter(line: string, style: AnsiStyle): AnsiStyle {
  let current = style;
  for (const match of line.matchAll(escapes))
    if (match[1] !== undefined) current = applySgr(match[1], current);
  return current;
}

/** The visible text of one line or of several joined by LF. */
export function stripAnsi(text: string): string {
  return text.replace(escapes, '').replace(controls, '');
}

const esc = String.fromCharCode(27);
const bell = String.fromCharCode(7);
/** Group 1 is set for SGR alone. An escape that the line's end cuts short is dropped too. */
const escapes = new RegExp(
  [
    `${esc}\\[([\\d;:]*)m`,
    `${esc}\\[[0-?]*[ -/]*(?:[@-~]|(?=\\n|$))`,
    `${esc}[\\]PX^_]\\P{Cc}*(?:${bell}|${esc}\\\\|(?=\\n|$))`,
    `${esc}[ -/]*(?:[0-~]|(?=\\n|$))`,
  ].join('|'),
  'gu',
);
/** All control characters but tab and line feed, which layout takes care of. */
const controls = /(?![\t\n])\p{Cc}/gu;

function pushSpan(spans: AnsiSpan[], raw: string, style: AnsiStyle): void {
  const text = raw.replace(controls, '');
  if (text !== '') spans.push({ text, style });
}

function applySgr(parameters: string, style: AnsiStyle): AnsiStyle {
  const codes = parameters.split(';');
  let next = style;
  for (let at = 0; at < codes.length; at++) {
    const part = codes[at] ?? '';
    const code = Number.parseInt(part || '0', 10);
    if (code === 38 || code === 48) {
      const colon = part.includes(':');
      const [color, used] = colon
        ? [colorOf(part.split(':').slice(1), true), 0]
        : extended(codes.slice(at + 1));
      at += used;
      if (color !== undefined) next = code === 38 ? { ...next, fg: color } : { ...next, bg: color };
    } else {
      next = applyCode(code, part, next);
    }
  }
  return next;
}

function extended(rest: string[]): [number | undefined, number] {
  if (rest[0] === '5') return [colorOf(rest.slice(0, 2), false), 2];
  if (rest[0] === '2') return [colorOf(rest.slice(0, 4), false), 4];
  return [undefined, 1];
}

/** `5;n`, `2;r;g;b`, and with colons also `2::r:g:b` (ITU T.416 has a colour-space id there). */
function colorOf(parts: string[], colons: boolean): number | undefined {
  const values = parts.slice(1).map((part) => Math.min(255, Number.parseInt(part || '0', 10) || 0));
  if (parts[0] === '5') return values[0] ?? 0;
  if (parts[0] !== '2') return undefined;
  const [red = 0, green = 0, blue = 0] = colons && values.length > 3 ? values.slice(1) : values;
  return trueColor | (red << 16) | (green << 8) | blue;
}

function applyCode(code: number, part: string, style: AnsiStyle): AnsiStyle {
  const { fg: _fg, ...withoutFg } = style;
  const { bg: _bg, ...withoutBg } = style;
  if (code === 0) return plainStyle;
  if (code >= 30 && code <= 37) return { ...style, fg: code - 30 };
  if (code >= 90 && code <= 97) return { ...style, fg: code - 90 + 8 };
  if (code >= 40 && code <= 47) return { ...style, bg: code - 40 };
  if (code >= 100 && code <= 107) return { ...style, bg: code - 100 + 8 };
  if (code === 39) return withoutFg;
  if (code === 49) return withoutBg;
  if (part === '4:0') return { ...style, attributes: style.attributes & ~attribute.underline };
  const [set, clear] = attributeCodes[code] ?? [0, 0];
  return { ...style, attributes: (style.attributes & ~clear) | set };
}

/** SGR code to the bits it sets and clears. */
const attributeCodes: Record<number, [number, number]> = {
  1: [attribute.bold, 0],
  2: [attribute.dim, 0],
  3: [attribute.italic, 0],
  4: [attribute.underline, 0],
  7: [attribute.inverse, 0],
  8: [attribute.hidden, 0],
  9: [attribute.strike, 0],
  21: [attribute.underline, 0],
  22: [0, attribute.bold | attribute.dim],
  23: [0, attribute.italic],
  24: [0, attribute.underline],
  27: [0, attribute.inverse],
  28: [0, attribute.hidden],
  29: [0, attribute.strike],
};
