import { closeSync, constants, fstatSync, lstatSync, openSync, readlinkSync, type Stats } from 'node:fs';
import { systemErrorCode } from '../lib/durable-errors.ts';

/** A folder of the workspace that can't be swapped for a link while it is looked at. */
export interface PinnedFolder {
  /** What the system is asked for to get at `name` (latin1) in the folder. */
  at(name: string): Buffer | string;
  /** Another for another folder, even where that got the inode of one that was removed. */
  readonly identity: string;
  readonly ctimeMs: number;
  close(): void;
}

/** Opens the folder at a byte path below `root`; null where there is none, or a link is on the way. */
export function pinFolder(root: string, path: string): PinnedFolder | null {
  return process.platform === 'linux' ? pinByDescriptor(root, path) : pinByName(root, path);
}

/** Linux: what is opened is asked for its own name; after that, its descriptor is the way to it. */
function pinByDescriptor(root: string, path: string): PinnedFolder | null {
  const wanted = path === '' ? Buffer.from(root) : belowRoot(root, path);
  const file = orNull(() =>
    openSync(wanted, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW),
  );
  if (file === null) return null;
  const link = `/proc/self/fd/${file}`;
  if (!readlinkSync(link, 'buffer').equals(wanted)) {
    closeSync(file);
    return null;
  }
  const stats = fstatSync(file);
  return { at: (name) => join(link, name), ...about(stats), close: () => closeSync(file) };
}

/** Elsewhere there is no such way: every folder on the way is looked at, which leaves a race of microseconds. */
function pinByName(root: string, path: string): PinnedFolder | null {
  let stats = orNull(() => lstatSync(root));
  for (let cut = 0; cut !== -1 && path !== ''; ) {
    cut = path.indexOf('/', cut + 1);
    const folder = join(root, cut === -1 ? path : path.slice(0, cut));
    stats = orNull(() => lstatSync(folder));
    if (!stats?.isDirectory()) return null;
  }
  if (!stats?.isDirectory()) return null;
  const prefix = path === '' ? '' : `${path}/`;
  return { at: (name) => join(root, prefix + name), ...about(stats), close: () => undefined };
}

function about({ ino, birthtimeMs, ctimeMs }: Stats) {
  return { identity: identityOf({ ino, birthtimeMs }), ctimeMs };
}

export function identityOf({ ino, birthtimeMs }: Pick<Stats, 'ino' | 'birthtimeMs'>): string {
  return `${ino} ${birthtimeMs}`;
}

function join(folder: string, name: string): Buffer | string {
  if (/^[\x20-\x7e]*$/.test(name)) return name === '' ? folder : `${folder}/${name}`;
  return belowRoot(folder, name);
}

function belowRoot(folder: string, path: string): Buffer {
  return Buffer.concat([Buffer.from(`${folder}/`), Buffer.from(path, 'latin1')]);
}

/** What is not there, or not what it should be, is null; other failures are thrown. */
export function orNull<Result>(act: () => Result): Result | null {
  try {
    return act();
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG', 'ENXIO'].includes(systemErrorCode(error) ?? ''))
      return null;
    throw error;
  }
}
