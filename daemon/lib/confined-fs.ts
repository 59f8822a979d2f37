import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmdirSync,
  symlinkSync,
  unlinkSync,
} from 'node:fs';
import { type ConfinedFolder, checkBytePath, openConfined, splitBytePath } from './confined-folder.ts';
import { statIn } from './confined-reads.ts';
import { systemErrorCode } from './durable-errors.ts';
import { type EntryStat, type Expected, entryStat } from './entry-stat.ts';
import {
  createIn,
  expectIn,
  newLink,
  putInPlace,
  removeQuietly,
  tempName,
  writeAll,
} from './put-in-place.ts';

// Changes inside a root that can't be led out of it, while others swap folders for links. `root` is a real path; paths
// are byte paths, a `/` at the end is ignored. No link is followed, neither at the leaf nor above it. All throw
// PathChangedError where a folder has become a link or the entry is not the expected one, and the system's error (ENOSPC,
// EACCES, EROFS, ENOTDIR …) where it refuses; then nothing was changed but folders that may have been made. Nothing is
// synced.

export interface WriteOptions {
  /** What is to be there; looked at just before the change. */
  readonly expect: Expected;
  /** Permission bits. Without them the umask decides. */
  readonly mode?: number;
  /** Where the umask decides: whether the file is to be executable. */
  readonly executable?: boolean;
  /** Leaves the file and its folder open, for the caller to sync and close. */
  readonly keepOpen?: boolean;
}

export interface Written {
  readonly stat: EntryStat;
  /** Byte paths of the folders that were made for it, outermost first. */
  readonly madeFolders: readonly string[];
  /** Descriptors where `keepOpen` was asked for. On Windows a folder has none. */
  readonly open: { readonly file: number; readonly folder: number | null } | null;
}

/**
 * Puts a regular file with this content at `path`, whole or not at all; folders that are missing are made. It is a new
 * file under the old name: other hard links keep the old content.
 */
export function writeInside(root: string, path: string, content: Uint8Array, options: WriteOptions): Written {
  const { folder, leaf } = splitBytePath(path);
  const madeFolders: string[] = [];
  using open = openOrMake(root, folder, madeFolders);
  const temp = tempName();
  const file = createIn(open, temp, options);
  try {
    writeAll(file, content);
    if (options.mode !== undefined) fchmodSync(file, options.mode);
    putInPlace(open, { temp, leaf, path, expect: options.expect });
    const stat = entryStat(fstatSync(file, { bigint: true }));
    if (options.keepOpen !== true) closeSync(file);
    return { stat, madeFolders, open: options.keepOpen === true ? { file, folder: syncable(open) } : null };
  } catch (error) {
    closeSync(file);
    removeQuietly(open, temp);
    throw error;
  }
}

/** The folder is there nearly always: it is not looked for before it is opened. */
function openOrMake(root: string, folder: string, made: string[]): ConfinedFolder {
  try {
    return openConfined(root, folder);
  } catch (error) {
    if (systemErrorCode(error) !== 'ENOENT') throw error;
    made.push(...makeFolderInside(root, folder));
    return openConfined(root, folder);
  }
}

/** Puts a link with this target at `path`; where the target leads is nobody's matter here. */
export function linkInside(
  root: string,
  path: string,
  target: Uint8Array,
  { expect }: Pick<WriteOptions, 'expect'>,
): { readonly madeFolders: readonly string[] } {
  const { folder, leaf } = splitBytePath(path);
  const madeFolders = makeFolderInside(root, folder);
  using open = openConfined(root, folder);
  if (expect === 'absent') {
    newLink(open, { leaf, path, target });
    return { madeFolders };
  }
  const temp = tempName();
  symlinkSync(Buffer.from(target), open.entry(temp));
  try {
    putInPlace(open, { temp, leaf, path, expect });
  } catch (error) {
    removeQuietly(open, temp);
    throw error;
  }
  return { madeFolders };
}

/** Removes a file, a link, whatever else has a name, or an empty folder. */
export function removeInside(root: string, path: string, { expect }: Pick<WriteOptions, 'expect'>): void {
  const { folder, leaf } = splitBytePath(path);
  using open = openConfined(root, folder);
  const stat = expectIn(open, leaf, { path, expect });
  if (stat === null) return;
  if (stat.kind === 'folder') rmdirSync(open.entry(leaf));
  else unlinkSync(open.entry(leaf));
}

/** Moves an entry with all that is in it; the folder it goes to is made. A change of upper and lower case alone works too. */
export function renameInside(
  root: string,
  from: string,
  to: string,
  expect: { readonly from: Expected; readonly to: Expected },
): { readonly madeFolders: readonly string[] } {
  const source = splitBytePath(from);
  const target = splitBytePath(to);
  const madeFolders = makeFolderInside(root, target.folder);
  using sourceFolder = openConfined(root, source.folder);
  using targetFolder = openConfined(root, target.folder);
  const moving = expectIn(sourceFolder, source.leaf, { path: from, expect: expect.from });
  const standing = statIn(targetFolder, target.leaf);
  const same = standing !== null && isSameEntry(standing, moving);
  if (!(same && isCaseChange(from, to))) expectIn(targetFolder, target.leaf, { path: to, expect: expect.to });
  renameSync(sourceFolder.entry(source.leaf), targetFolder.entry(target.leaf));
  // Between two hard links of one file, rename does nothing.
  if (same && readdirSync(sourceFolder.self, { encoding: 'latin1' }).includes(source.leaf))
    unlinkSync(sourceFolder.entry(source.leaf));
  return { madeFolders };
}

/** Makes a folder and those above it, as far as they are missing; answers the byte paths of those it made, outermost first. */
export function makeFolderInside(root: string, path: string): string[] {
  const folder = path.endsWith('/') ? path.slice(0, -1) : path;
  if (folder === '') return [];
  checkBytePath(folder);
  if (isFolder(root, folder)) return [];
  const { folder: above, leaf } = splitBytePath(folder);
  const made = makeFolderInside(root, above);
  using open = openConfined(root, above);
  try {
    mkdirSync(open.entry(leaf));
    made.push(folder);
  } catch (error) {
    // Another has made it meanwhile; what stands there is looked at when it is opened.
    if (systemErrorCode(error) !== 'EEXIST') throw error;
    openConfined(root, folder)[Symbol.dispose]();
  }
  return made;
}

/** Removes the folders above `path` that are empty, inmost first, up to one that `keep` names; answers those removed. */
export function removeEmptyParents(root: string, path: string, keep: (folder: string) => boolean): string[] {
  const removed: string[] = [];
  let { folder } = splitBytePath(path);
  while (folder !== '' && !keep(folder)) {
    const { folder: above, leaf } = splitBytePath(folder);
    try {
      using open = openConfined(root, above);
      rmdirSync(open.entry(leaf));
    } catch {
      // Not empty, in use, a link, or gone already: a folder that can't be removed simply stays.
      break;
    }
    removed.push(folder);
    folder = above;
  }
  return removed;
}

function isFolder(root: string, folder: string): boolean {
  try {
    openConfined(root, folder)[Symbol.dispose]();
    return true;
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return false;
    throw error;
  }
}

const isSameEntry = (a: EntryStat, b: EntryStat | null) => b !== null && a.ino === b.ino && a.dev === b.dev;

/** Two hard links of one file are one entry by their numbers: only the names can tell that one is meant. */
function isCaseChange(from: string, to: string): boolean {
  const fold = (path: string) => Buffer.from(path, 'latin1').toString('utf8').normalize('NFC').toLowerCase();
  return from !== to && fold(from) === fold(to);
}

function syncable(folder: ConfinedFolder): number | null {
  if (process.platform === 'win32') return null;
  return openSync(folder.self, constants.O_RDONLY | constants.O_DIRECTORY);
}
