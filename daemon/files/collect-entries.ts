import { CodedError } from '../contract/errors.ts';
import { PathChangedError } from '../lib/confined-folder.ts';
import { listInside } from '../lib/confined-reads.ts';
import type { EntryStat } from '../lib/entry-stat.ts';
import { type FoundEntry, readEntryInTurns } from '../lib/read-entry.ts';
import { Turns } from '../lib/turns.ts';
import { notAFile, reservedPath } from './locate.ts';
import { isReservedName } from './reserved-names.ts';

/** A folder that is deleted or moved as a whole holds at most this many files, links and folders. */
export const maxFolderFiles = 10_000;
/** Their contents are held in memory until they are kept for the undo. */
const maxContentBytes = 256 * 1024 * 1024;

export interface CollectedEntries {
  /** Files and links, byte paths relative to the workspace. */
  readonly files: readonly { readonly path: string; readonly found: FoundEntry }[];
  /** The folder itself and those in it, each before what it holds; `empty` where it holds nothing. */
  readonly folders: readonly { readonly path: string; readonly stat: EntryStat; readonly empty: boolean }[];
}

/**
 * Everything in a folder, with contents up to 10 MiB each.
 *
 * @throws CodedError too_many_files; path_reserved where another repository is in it; not_a_file for devices and pipes
 */
export async function collectEntries(
  root: string,
  folder: string,
  stat: EntryStat,
): Promise<CollectedEntries> {
  const files: { path: string; found: FoundEntry }[] = [];
  const folders: { path: string; stat: EntryStat; empty: boolean }[] = [];
  const pending = [{ path: folder, stat }];
  let contentBytes = 0;
  const turns = new Turns();
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const entries = listInside(root, next.path);
    if (entries === null) throw new PathChangedError(next.path, 'The folder has gone.');
    folders.push({ ...next, empty: entries.length === 0 });
    for (const entry of entries) {
      const path = `${next.path}/${entry.name}`;
      if (isReservedName(entry.name)) throw reservedPath(path);
      if (entry.stat.kind === 'folder') pending.push({ path, stat: entry.stat });
      else {
        const found = await readEntryInTurns(root, path);
        if (found === null) throw notAFile(path, 'no file or folder that could be put back');
        files.push({ path, found });
        contentBytes += found.bytes?.length ?? 0;
      }
      checkLimits(files.length + folders.length + pending.length - 1, contentBytes);
      await turns.pause();
    }
  }
  return { files, folders };
}

function checkLimits(count: number, contentBytes: number): void {
  if (count > maxFolderFiles)
    throw new CodedError(
      'too_many_files',
      `The folder holds more than ${maxFolderFiles} files; take it in parts.`,
    );
  if (contentBytes > maxContentBytes)
    throw new CodedError('too_many_files', 'The folder holds more than 256 MiB of files; take it in parts.');
}
