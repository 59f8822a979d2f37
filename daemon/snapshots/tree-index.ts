import { type Digest, toHex } from './blob.ts';
import type { EntryState } from './entry-state.ts';

/** One leaf of the tree: a file, a link or an empty folder. */
export interface Entry {
  readonly mode: EntryState['mode'];
  readonly size: number;
  /** What `lstat` said when it was hashed; `mtimeMs` is -1 where the content was not read from the tree. */
  readonly mtimeMs: number;
  readonly ctimeMs: number;
  readonly ino: number;
  /** Changed so shortly before it was hashed that a later change may have left the same times. */
  readonly isRacy: boolean;
  /** SHA-256; empty for an empty folder. */
  readonly sha: Digest;
  /** Null where the content is not kept. */
  readonly id: Digest | null;
}

export const emptyFolder: Entry = {
  mode: '040000',
  size: 0,
  mtimeMs: 0,
  ctimeMs: 0,
  ino: 0,
  isRacy: false,
  sha: '',
  id: null,
};

export function stateOf(entry: Entry | null): EntryState | null {
  if (entry === null) return null;
  const { mode, size, sha, id } = entry;
  return { mode, size, hash: sha === '' ? 'absent' : `sha256:${toHex(sha)}`, oid: id && toHex(id) };
}

export function isSameState(a: Entry | null, b: Entry | null): boolean {
  if (a === null || b === null) return a === b;
  return a.mode === b.mode && a.sha === b.sha;
}

type Folder = Map<string, Entry | Folder>;

/** The leaves of a tree by byte path; an empty folder's path ends with `/`. Folders are there as far as they have leaves. */
export class TreeIndex {
  readonly #top: Folder = new Map();
  #count = 0;

  get count(): number {
    return this.#count;
  }

  get(path: string): Entry | null {
    const found = this.#folder(folderOf(path))?.get(nameOf(path));
    return found === undefined || found instanceof Map ? null : found;
  }

  set(path: string, entry: Entry | null): void {
    if (entry === null) this.#delete(path);
    else this.#put(path, entry);
  }

  /** Names right below a folder: of leaves, and of folders with leaves. */
  namesIn(folder: string): string[] {
    return [...(this.#folder(folder)?.keys() ?? [])];
  }

  hasLeavesBelow(folder: string): boolean {
    return this.#folder(folder) !== undefined;
  }

  /** Every leaf below a folder (`''`: all); must not be changed meanwhile. */
  *leavesBelow(folder: string): Generator<readonly [path: string, entry: Entry]> {
    const start = this.#folder(folder);
    if (start) yield* walk(start, folder === '' ? '' : `${folder}/`);
  }

  #put(path: string, entry: Entry): void {
    let folder = this.#top;
    const parent = folderOf(path);
    if (parent !== '')
      for (const part of parent.split('/')) {
        let next = folder.get(part);
        if (!(next instanceof Map)) {
          if (next) this.#count -= 1;
          next = new Map();
          folder.set(part, next);
        }
        folder = next;
      }
    const name = nameOf(path);
    const there = folder.get(name);
    if (there instanceof Map) this.#count -= [...walk(there, '')].length;
    if (there === undefined || there instanceof Map) this.#count += 1;
    folder.set(name, entry);
  }

  #delete(path: string): void {
    const parent = folderOf(path);
    const folder = this.#folder(parent);
    const there = folder?.get(nameOf(path));
    if (!folder || there === undefined || there instanceof Map) return;
    folder.delete(nameOf(path));
    this.#count -= 1;
    if (folder.size === 0) this.#dropFolder(parent);
  }

  #dropFolder(path: string): void {
    if (path === '') return;
    const parent = this.#folder(folderOf(path));
    parent?.delete(nameOf(path));
    if (parent?.size === 0) this.#dropFolder(folderOf(path));
  }

  #folder(path: string): Folder | undefined {
    let folder: Folder = this.#top;
    if (path === '') return folder;
    for (const part of path.split('/')) {
      const next = folder.get(part);
      if (!(next instanceof Map)) return undefined;
      folder = next;
    }
    return folder;
  }
}

function* walk(folder: Folder, prefix: string): Generator<readonly [string, Entry]> {
  for (const [name, there] of folder)
    if (there instanceof Map) yield* walk(there, `${prefix}${name}/`);
    else yield [prefix + name, there];
}

/** The `/` at the end of an empty folder's path belongs to its name. */
function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/', path.length - 2)));
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/', path.length - 2) + 1);
}
