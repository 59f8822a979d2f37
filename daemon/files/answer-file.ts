import type { Answer } from '../http/route.ts';
import { parseRange } from './byte-range.ts';
import { etagOf, matches } from './etags.ts';
import type { FileContent } from './read-file.ts';

export interface ReadConditions {
  readonly ifNoneMatch: string | undefined;
  readonly range: string | undefined;
  readonly ifRange: string | undefined;
}

/**
 * The answer to a GET of a file (RFC 9110): all of it, a part, or that the caller has it already. A range that is not in
 * the file gives 'unsatisfiable'; then, and where the answer has no bytes, the content is closed.
 *
 * @param path as the caller can name it; the file's own, where links led to it
 */
export function answerFile(
  content: FileContent,
  path: string,
  { ifNoneMatch, range, ifRange }: ReadConditions,
): Answer | 'unsatisfiable' {
  const { hash, size, isText } = content;
  const headers = {
    ETag: etagOf(hash),
    'Cache-Control': 'no-store',
    'Content-Location': `/api/project/file?path=${percentEncoded(path)}`,
  };
  if (ifNoneMatch !== undefined && matches(ifNoneMatch, hash, 'weak')) {
    content[Symbol.dispose]();
    return { status: 304, headers };
  }
  const wholeAsked = ifRange !== undefined && !matches(ifRange, hash, 'strong');
  const part = wholeAsked ? null : parseRange(range, size);
  if (part === 'unsatisfiable') {
    content[Symbol.dispose]();
    return part;
  }
  const { first, last } = part ?? { first: 0, last: size - 1 };
  return {
    status: part === null ? 200 : 206,
    bytes: content.part({ first, last }),
    headers: {
      ...headers,
      'Accept-Ranges': 'bytes',
      'Content-Type': isText ? 'text/plain; charset=utf-8' : 'application/octet-stream',
      'Content-Length': String(last - first + 1),
      // No browser is to show a project's file as a page of this origin.
      'Content-Disposition': `attachment; filename*=UTF-8''${percentEncoded(path.split('/').at(-1) ?? '')}`,
      ...(part === null ? {} : { 'Content-Range': `bytes ${first}-${last}/${size}` }),
    },
  };
}

/** As RFC 8187 has it: `encodeURIComponent` lets some characters through that are not allowed there. */
function percentEncoded(text: string): string {
  return encodeURIComponent(text).replace(
    /['()*]/g,
    (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
