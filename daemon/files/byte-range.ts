/** First and last byte, both counted from 0 and both included. */
export interface ByteRange {
  readonly first: number;
  readonly last: number;
}

/**
 * The part of `size` bytes that a Range header asks for. Null: all of it, as for several ranges or what is no byte range
 * (RFC 9110, section 14.2, lets a server take no notice of them).
 */
export function parseRange(header: string | undefined, size: number): ByteRange | null | 'unsatisfiable' {
  const [, from = '', to = ''] = /^bytes=(\d*)-(\d*)$/.exec(header?.trim() ?? '') ?? [];
  if (from === '' && to === '') return null;
  if (from === '') {
    const length = Number(to);
    return length === 0 || size === 0
      ? 'unsatisfiable'
      : { first: Math.max(0, size - length), last: size - 1 };
  }
  const first = Number(from);
  if (to !== '' && Number(to) < first) return null;
  if (first >= size) return 'unsatisfiable';
  return { first, last: to === '' ? size - 1 : Math.min(Number(to), size - 1) };
}
