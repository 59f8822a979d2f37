import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
} from 'node:fs';
import { type ConfinedFolder, openConfined, PathChangedError, splitBytePath } from './confined-folder.ts';
import { systemErrorCode } from './durable-errors.ts';
import { type EntryStat, entryStat } from './entry-stat.ts';

// Reads of entries inside a root that can't be led out of it, while others swap folders for links. `root` is a real
// path; paths are byte paths whose folders are real (see resolve-inside.ts). All throw PathChangedError where a folder
// has become a link, and the system's error (EACCES, EIO) where it refuses. Null: there is nothing.

/** What the entry is, without opening it. */
export function statInside(root: string, path: string): EntryStat | null {
  return withFolderOf(root, path, statIn);
}

export interface ReadEntryBytes {
  readonly stat: EntryStat;
  /** Content of a file, target of a link; null where it is larger than asked for, and of everything else. */
  readonly bytes: Buffer | null;
}

/** The whole of a small file, as it was at one moment: what is written while it is read is read again. */
export function readInside(
  root: string,
  path: string,
  { maxBytes }: { maxBytes: number },
): ReadEntryBytes | null {
  return withFolderOf(root, path, (folder, leaf) => {
    for (let tries = 0; tries < maxTries; tries += 1) {
      const read = readOnce(folder, leaf, maxBytes);
      if (read !== 'changing') return read;
    }
    throw new PathChangedError(path, 'The file is being written all the time.');
  });
}

export interface OpenFile extends Disposable {
  readonly descriptor: number;
  readonly stat: EntryStat;
}

/** A regular file, open for reading; null where there is none, or no regular file. FIFOs and devices are not opened. */
export function openFileInside(root: string, path: string): OpenFile | null {
  return withFolderOf(root, path, openIn);
}

/** Names of a folder's entries, as bytes in latin1 strings, in no order; null where there is no folder. */
export function namesInside(root: string, folder: string): string[] | null {
  return orAbsent(() => {
    using open = openConfined(root, folder);
    return readdirSync(open.self, { encoding: 'latin1' });
  });
}

/** The same, with what each of them is, and where links lead. */
export function listInside(
  root: string,
  folder: string,
): { readonly name: string; readonly stat: EntryStat; readonly target: Buffer | null }[] | null {
  return orAbsent(() => {
    using open = openConfined(root, folder);
    return readdirSync(open.self, { encoding: 'latin1' }).flatMap((name) => {
      const stat = statIn(open, name);
      if (stat === null) return [];
      return [{ name, stat, target: stat.kind === 'link' ? targetIn(open, name) : null }];
    });
  });
}

const maxTries = 20;

function withFolderOf<T>(
  root: string,
  path: string,
  work: (folder: ConfinedFolder, leaf: string) => T,
): T | null {
  const { folder, leaf } = splitBytePath(path);
  return orAbsent(() => {
    using open = openConfined(root, folder);
    return work(open, leaf);
  });
}

/** Null where the system says that there is nothing. */
export function orAbsent<T>(work: () => T): T | null {
  try {
    return work();
  } catch (error) {
    if (isAbsence(error)) return null;
    throw error;
  }
}

/** Whether the system says that there is nothing at a path: also where a file stands in the place of a folder. */
export function isAbsence(error: unknown): boolean {
  const code = systemErrorCode(error);
  return code === 'ENOENT' || code === 'ENOTDIR';
}

/** The entry of a folder that is held open. */
export function statIn(folder: ConfinedFolder, leaf: string): EntryStat | null {
  const stats = lstatSync(folder.entry(leaf), { bigint: true, throwIfNoEntry: false });
  return stats === undefined ? null : entryStat(stats);
}

/** Where a link leads; null where it is none. */
export function targetIn(folder: ConfinedFolder, leaf: string): Buffer | null {
  try {
    return readlinkSync(folder.entry(leaf), { encoding: 'buffer' });
  } catch (error) {
    // It was a link a moment ago.
    if (isAbsence(error) || systemErrorCode(error) === 'EINVAL') return null;
    throw error;
  }
}

function readOnce(
  folder: ConfinedFolder,
  leaf: string,
  maxBytes: number,
): ReadEntryBytes | null | 'changing' {
  const stat = statIn(folder, leaf);
  if (stat === null) return null;
  if (stat.kind === 'link') {
    const bytes = targetIn(folder, leaf);
    return bytes === null ? 'changing' : { stat, bytes };
  }
  if (stat.kind !== 'file' || stat.size > maxBytes) return { stat, bytes: null };
  using file = openIn(folder, leaf);
  if (file === null) return 'changing';
  if (file.stat.size > maxBytes) return { stat: file.stat, bytes: null };
  const bytes = readFully(file.descriptor, file.stat.size);
  const after = entryStat(fstatSync(file.descriptor, { bigint: true }));
  const same = bytes !== null && after.mtimeNs === file.stat.mtimeNs && after.size === file.stat.size;
  return same ? { stat: after, bytes } : 'changing';
}

/** What was seen to be a file may be a FIFO by now: O_NONBLOCK keeps the open from waiting for its other end. */
function openIn(folder: ConfinedFolder, leaf: string): OpenFile | null {
  const seen = statIn(folder, leaf);
  if (seen?.kind !== 'file') return null;
  const descriptor = openUnfollowed(folder.entry(leaf));
  if (descriptor === null) return null;
  const stat = entryStat(fstatSync(descriptor, { bigint: true }));
  const close = () => closeSync(descriptor);
  if (stat.kind === 'file') return { descriptor, stat, [Symbol.dispose]: close };
  close();
  return null;
}

function openUnfollowed(path: string | Buffer): number | null {
  const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
  try {
    return openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    // A link or a socket by now.
    if (['ELOOP', 'EMLINK', 'ENXIO'].includes(systemErrorCode(error) ?? '')) return null;
    throw error;
  }
}

/** Null where the file has become shorter meanwhile. */
function readFully(descriptor: number, size: number): Buffer | null {
  const bytes = Buffer.allocUnsafe(size);
  let at = 0;
  while (at < size) {
    const read = readSync(descriptor, bytes, at, size - at, at);
    if (read === 0) return null;
    at += read;
  }
  return bytes;
}
