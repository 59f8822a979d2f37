import { PathChangedError } from './confined-folder.ts';
import { listInside, openFileInside, readInside, statInside } from './confined-reads.ts';
import { hashContent, hashDescriptor, hashDescriptorInTurns } from './content-hash.ts';
import type { EntryStat } from './entry-stat.ts';

/** A file, link or empty folder as it is now. */
export interface FoundEntry {
  readonly state: {
    readonly mode: '100644' | '100755' | '120000' | '040000';
    readonly hash: string;
    readonly size: number;
    readonly oid: string | null;
  };
  /** Content of a file, target of a link; null over 10 MiB and for a folder. */
  readonly bytes: Buffer | null;
  /** What a later change can expect to find still. */
  readonly stat: EntryStat;
}

const maxKeptBytes = 10 * 1024 * 1024;

/**
 * What is at a byte path of `root`, a real path: a file or link; or, where the path ends with `/`, an empty folder. Null
 * for everything else: nothing, a folder with something in it, a FIFO, a device. Reads the whole file, however large.
 *
 * @throws PathChangedError, and the system's error where it may not be read
 */
export function readEntry(root: string, path: string): FoundEntry | null {
  if (path.endsWith('/')) return readEmptyFolder(root, path.slice(0, -1));
  const small = readSmall(root, path);
  if (small !== 'large') return small;
  using file = openFileInside(root, path);
  if (file === null) return null;
  return foundLarge(path, file.stat, hashDescriptor(file.descriptor, file.stat.size));
}

/** The same, letting others have their turn while a large file is read. */
export async function readEntryInTurns(root: string, path: string): Promise<FoundEntry | null> {
  if (path.endsWith('/')) return readEmptyFolder(root, path.slice(0, -1));
  const small = readSmall(root, path);
  if (small !== 'large') return small;
  using file = openFileInside(root, path);
  if (file === null) return null;
  return foundLarge(path, file.stat, await hashDescriptorInTurns(file.descriptor, file.stat.size));
}

function readEmptyFolder(root: string, folder: string): FoundEntry | null {
  const stat = statInside(root, folder);
  if (stat?.kind !== 'folder' || listInside(root, folder)?.length !== 0) return null;
  return { state: { mode: '040000', hash: 'absent', size: 0, oid: null }, bytes: null, stat };
}

function readSmall(root: string, path: string): FoundEntry | null | 'large' {
  const read = readInside(root, path, { maxBytes: maxKeptBytes });
  if (read === null || read.stat.kind === 'folder' || read.stat.kind === 'other') return null;
  const { stat, bytes } = read;
  if (bytes === null) return 'large';
  const mode = stat.kind === 'link' ? '120000' : fileMode(stat);
  return { state: { mode, size: bytes.length, ...hashContent(bytes) }, bytes, stat };
}

function foundLarge(path: string, stat: EntryStat, hashed: ReturnType<typeof hashDescriptor>): FoundEntry {
  if (hashed === null) throw new PathChangedError(path, 'The file became shorter while it was read.');
  return { state: { mode: fileMode(stat), size: stat.size, ...hashed }, bytes: null, stat };
}

/** Git knows one permission: whether its owner can execute a file. */
const fileMode = (stat: EntryStat) => ((stat.mode & 0o100) === 0 ? '100644' : '100755');
