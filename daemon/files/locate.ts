import { CodedError } from '../contract/errors.ts';
import { fromBytePath, toBytePath } from '../lib/byte-path.ts';
import { statInside } from '../lib/confined-reads.ts';
import { resolveInside } from '../lib/resolve-inside.ts';
import { isReserved } from './reserved-names.ts';

/**
 * The real byte path that a caller's path means, '' for the workspace itself. A link at its end is followed, or kept.
 *
 * @throws CodedError path_reserved, invalid_request; OutsideRootError; LinkLoopError; the system's error
 */
export function locate(root: string, requested: string, leaf: 'follow' | 'keep' | 'as-written'): string {
  if (!requested.isWellFormed() || requested.includes('\0'))
    throw new CodedError('invalid_request', 'The path is not valid: it has half a character, or NUL, in it.');
  const wanted = toBytePath(requested);
  // Also where it would lead elsewhere: the name alone is refused.
  if (isReserved(wanted)) throw reservedPath(wanted);
  const path = resolveInside(root, wanted, leaf);
  if (isReserved(path)) throw reservedPath(path);
  return path;
}

/** The same of a path that is to name a file. */
export function locateFile(root: string, requested: string, leaf: 'follow' | 'keep' | 'as-written'): string {
  const path = locate(root, requested, leaf);
  if (path === '' || requested.endsWith('/')) throw notAFile(path === '' ? '.' : path, 'a folder');
  return path;
}

export const textOf = (path: string) => fromBytePath(path).path;

export const reservedPath = (path: string) =>
  new CodedError(
    'path_reserved',
    `${textOf(path)} belongs to git or to the service; this API leaves it alone.`,
  );

export const fileNotFound = (path: string) =>
  new CodedError('file_not_found', `There is no file ${textOf(path)}.`);

export const notAFile = (path: string, what: string) =>
  new CodedError('not_a_file', `${textOf(path)} is ${what}, not a file.`);

/** What to say where a file was looked for and none is. */
export function whyNoFile(root: string, path: string): CodedError {
  const stat = statInside(root, path);
  if (stat === null || stat.kind === 'link') return fileNotFound(path);
  return notAFile(path, stat.kind === 'folder' ? 'a folder' : 'a device, socket or pipe');
}
