export type LineBreaks = 'lf' | 'crlf' | 'mixed';

/** How a text ends its lines. One without any counts as `lf`; lone CRs, or both kinds, as `mixed`. */
export function lineBreaksOf(text: string): LineBreaks {
  if (!text.includes('\r')) return 'lf';
  return /\r(?!\n)|(?<!\r)\n/.test(text) ? 'mixed' : 'crlf';
}

/** What an editor that keeps lines apart by LF saves, so that lines nobody touched keep their breaks. */
export function withLineBreaks(text: string, breaks: LineBreaks): string {
  return breaks === 'crlf' ? text.replaceAll('\n', '\r\n') : text;
}
