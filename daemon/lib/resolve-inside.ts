import { lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { toBytePath } from './byte-path.ts';
import { systemName } from './confined-folder.ts';
import { systemErrorCode } from './durable-errors.ts';
import { OutsideRootError } from './open-folder.ts';

/** Links lead in a circle, or through too many others. */
export class LinkLoopError extends Error {
  override readonly name = 'LinkLoopError';
  readonly code = 'link_loop';
}

/**
 * The real byte path, relative to `root`, that `requested` (a byte path as a caller wrote it) leads to through links;
 * '' for the root itself. A link at the end is followed, or kept as it is; `as-written` keeps the spelling of its name, too.
 * What is not there need not be: the rest of the path is then taken as it is written. Nothing outside is opened, and whether something is there is not told.
 *
 * The answer holds for the moment; the calls of confined-fs.ts refuse a path that is no longer real.
 *
 * @throws OutsideRootError for absolute paths, any `..`, and links that lead out; LinkLoopError; the system's error
 */
export function resolveInside(
  root: string,
  requested: string,
  leaf: 'follow' | 'keep' | 'as-written',
): string {
  const base = toBytePath(root);
  const pending = partsOf(requested);
  const real: string[] = [];
  for (let links = 0; pending.length > 0; ) {
    const part = pending.shift() ?? '';
    if (part === '..') {
      if (real.pop() === undefined) throw outside();
      continue;
    }
    real.push(part);
    if (leaf !== 'follow' && pending.length === 0) break;
    const target = linkTarget(`${base}/${real.join('/')}`);
    if (target === null) continue;
    links += 1;
    if (links > maxLinks) throw new LinkLoopError('The links of this path lead in a circle.');
    real.pop();
    if (isAbsoluteBytes(target)) real.length = 0;
    pending.unshift(...(isAbsoluteBytes(target) ? insideParts(base, target) : split(target)));
  }
  const written = leaf === 'as-written' ? real.splice(-1) : [];
  const spelled = split(spelledAsOnDisk(base, real.join('/')));
  return [...spelled, ...written].join('/');
}

/** As Linux's own limit. */
const maxLinks = 40;

function partsOf(requested: string): string[] {
  const parts = split(requested);
  const backslash = process.platform === 'win32' && /[\\:]/.test(requested);
  if (isAbsoluteBytes(requested) || parts.includes('..') || backslash) throw outside();
  return parts;
}

const split = (path: string) => path.split('/').filter((part) => part !== '' && part !== '.');

const isAbsoluteBytes = (path: string) => path.startsWith('/') || isAbsolute(path);

const outside = () => new OutsideRootError('path leads out of the root');

function linkTarget(path: string): string | null {
  try {
    const stats = lstatSync(systemName(path), { throwIfNoEntry: false });
    if (stats?.isSymbolicLink() !== true) return null;
    const target = readlinkSync(systemName(path), { encoding: 'latin1' });
    return process.platform === 'win32' ? target.replaceAll('\\', '/') : target;
  } catch (error) {
    // Below a file there is nothing; and what was a link a moment ago may be none by now.
    if (['ENOENT', 'ENOTDIR', 'EINVAL'].includes(systemErrorCode(error) ?? '')) return null;
    throw error;
  }
}

/** An absolute target may name the root by another way than its real path, as /tmp does on macOS. */
function insideParts(base: string, target: string): string[] {
  for (const candidate of [target, realOf(target)])
    if (candidate === base || candidate?.startsWith(base === '/' ? '/' : `${base}/`))
      return split(candidate.slice(base.length));
  throw outside();
}

function realOf(path: string): string | undefined {
  try {
    return toBytePath(realpathSync.native(systemName(path))).replaceAll('\\', '/');
  } catch {
    // There is nothing, or it can't be seen: either way it is not known to be inside.
    return undefined;
  }
}

/** Where upper and lower case are one, a name has many spellings, and the receipts are to know one. */
function spelledAsOnDisk(base: string, path: string): string {
  if (process.platform === 'linux' || path === '') return path;
  const real = realOf(`${base}/${path}`);
  return real?.toLowerCase() === `${base}/${path}`.toLowerCase() ? real.slice(base.length + 1) : path;
}
