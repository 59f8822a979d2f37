import { CodedError } from '../contract/errors.ts';

/** What a caller demands of the file as it is now (RFC 9110, section 13.1). */
export interface Conditions {
  readonly ifMatch: string | undefined;
  readonly ifNoneMatch: string | undefined;
}

export const etagOf = (hash: string) => `"${hash}"`;

/** @param hash of the file as it is now; null where there is none. @throws CodedError conflict, with the current `etag` */
export function checkConditions({ ifMatch, ifNoneMatch }: Conditions, hash: string | null): void {
  const members = { etag: hash };
  if (ifMatch !== undefined && !matches(ifMatch, hash, 'strong'))
    throw new CodedError(
      'conflict',
      hash === null
        ? 'There is no such file any more; If-Match asks for one.'
        : 'The file has changed: If-Match names another content.',
      { members },
    );
  if (ifNoneMatch !== undefined && matches(ifNoneMatch, hash, 'weak'))
    throw new CodedError('conflict', 'There is such a file already; If-None-Match asks for none.', {
      members,
    });
}

/** Whether a list of entity tags has the one of this content; `*` stands for any content. */
export function matches(list: string, hash: string | null, comparison: 'strong' | 'weak'): boolean {
  if (hash === null) return false;
  return list.split(',').some((item) => {
    const tag = item.trim();
    if (tag === '*') return true;
    const strong = comparison === 'weak' ? tag.replace(/^W\//, '') : tag;
    // The bare hash is what our own answers call `etag`.
    return strong === etagOf(hash) || strong === hash;
  });
}
