import { closeSync, constants, openSync, readlinkSync, realpathSync } from 'node:fs';
import { toBytePath } from './byte-path.ts';

/**
 * What stands at a path is not what it is taken for: a folder above it has become a link, or the entry is another than
 * it was. Nothing was changed; look again.
 */
export class PathChangedError extends Error {
  override readonly name = 'PathChangedError';
  readonly code = 'path_changed';
  readonly path: string;

  constructor(path: string, detail: string) {
    super(detail);
    this.path = path;
  }
}

/** A folder inside a root that is held open: its entries are named through it, whatever becomes of its path. */
export interface ConfinedFolder extends Disposable {
  /** For file calls: names the entry `leaf` of this very folder. */
  entry(leaf: string): string | Buffer;
  /** For file calls: names the folder itself. */
  readonly self: string | Buffer;
}

/**
 * Opens the folder at byte path `folder` ('' for the root itself) below `root`, a real path. No link is followed: on
 * Linux the check and the use are on one descriptor, so that a swap between the two changes nothing. Elsewhere the real
 * path is checked and used; a swap in the instant between the two would not be seen.
 *
 * @throws PathChangedError where a part of the path is a link; else the system's error: ENOENT, ENOTDIR, EACCES
 */
export function openConfined(root: string, folder: string): ConfinedFolder {
  const wanted = bytesOf(root, folder);
  return process.platform === 'linux' ? openByDescriptor(wanted, folder) : openByName(wanted, folder);
}

/** Linux's O_PATH: a descriptor that only names what it is for, without opening it. Node has no constant for it. */
const pathOnly = 0o10000000;

function openByDescriptor(wanted: string, folder: string): ConfinedFolder {
  const descriptor = openSync(systemName(wanted), pathOnly | constants.O_DIRECTORY);
  try {
    const self = `/proc/self/fd/${descriptor}`;
    const real = readlinkSync(self, { encoding: 'latin1' });
    if (real !== wanted) throw new PathChangedError(folder, 'A folder of this path is a link, or has moved.');
    const close = () => closeSync(descriptor);
    return { self, entry: (leaf) => systemName(`${self}/${checkedLeaf(leaf)}`), [Symbol.dispose]: close };
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

function openByName(wanted: string, folder: string): ConfinedFolder {
  const real = toBytePath(realpathSync.native(systemName(wanted))).replaceAll('\\', '/');
  if (real !== wanted) throw new PathChangedError(folder, 'A folder of this path is a link, or has moved.');
  return {
    self: systemName(wanted),
    entry: (leaf) => systemName(`${wanted}/${checkedLeaf(leaf)}`),
    [Symbol.dispose]: () => undefined,
  };
}

/** A whole path as bytes in a latin1 string. */
function bytesOf(root: string, folder: string): string {
  if (folder !== '') checkBytePath(folder);
  const base = toBytePath(process.platform === 'win32' ? root.replaceAll('\\', '/') : root);
  return folder === '' ? base : `${base === '/' ? '' : base}/${folder}`;
}

/** Bytes in a latin1 string as the file calls take them. */
export function systemName(bytes: string): string | Buffer {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the whole of ASCII is meant
  return /^[\x00-\x7f]*$/.test(bytes) ? bytes : Buffer.from(bytes, 'latin1');
}

/** @throws RangeError where a path that the program has made itself is none: a mistake, not bad input */
export function checkBytePath(path: string): void {
  for (const part of path.split('/')) checkedLeaf(part);
}

function checkedLeaf(leaf: string): string {
  if (leaf === '' || leaf === '.' || leaf === '..' || leaf.includes('/') || leaf.includes('\0'))
    throw new RangeError(`not the name of an entry: ${JSON.stringify(leaf)}`);
  if (process.platform === 'win32' && /[\\:]/.test(leaf))
    throw new RangeError(`not the name of an entry: ${JSON.stringify(leaf)}`);
  return leaf;
}

/** Byte path taken apart: the folder, and the name in it. A `/` at the end, as empty folders have, is left out. */
export function splitBytePath(path: string): { readonly folder: string; readonly leaf: string } {
  const trimmed = path.endsWith('/') ? path.slice(0, -1) : path;
  const slash = trimmed.lastIndexOf('/');
  return { folder: slash < 0 ? '' : trimmed.slice(0, slash), leaf: trimmed.slice(slash + 1) };
}
