import { type FSWatcher, lstatSync, readdirSync, watch } from 'node:fs';
import { parentOf, systemPath } from '../lib/byte-path.ts';
import { systemErrorCode } from '../lib/durable-errors.ts';
import { orNull, type PinnedFolder, pinFolder } from './pinned-folder.ts';

export interface TreeWatchOptions {
  readonly root: string;
  readonly maxFolders: number;
  /** What no one wants to hear of. */
  readonly isSkipped: (folder: string, name: string) => boolean;
  /** Folders that are not looked into. */
  readonly isIgnored: (path: string) => boolean;
  /** `deep`: a folder that was not watched before; all below it has to be looked at. */
  readonly onDirty: (path: string, deep: boolean) => void;
  /** It can't go on, and has closed itself. */
  readonly onFailure: (error: Error) => void;
}

interface WatchedFolder {
  readonly watcher: FSWatcher;
  readonly identity: string;
  readonly subfolders: Set<string>;
}

/**
 * Watches the folders of a tree, each on its own: the system's recursive watching delays and joins events, and we need
 * their order. A new folder is watched before it is read, so that nothing that happens in it is missed.
 */
export class TreeWatch {
  /** Since the last `resetCount`: by them one knows whether the system's queue may have run over. */
  #events = 0;
  readonly #options: TreeWatchOptions;
  readonly #folders = new Map<string, WatchedFolder>();
  #isClosed = false;

  constructor(options: TreeWatchOptions) {
    this.#options = options;
  }

  get events(): number {
    return this.#events;
  }

  resetCount(): void {
    this.#events = 0;
  }

  /** Of what is watched as the folder; the folder itself may be another by now. */
  identityOf(folder: string): string | undefined {
    return this.#folders.get(folder)?.identity;
  }

  /** Watches a folder, but none of its subfolders. */
  add(path: string, folder: PinnedFolder): void {
    if (this.#isClosed) return;
    const there = this.#folders.get(path);
    if (there?.identity === folder.identity) return;
    if (there) this.remove(path);
    if (this.#folders.size >= this.#options.maxFolders) {
      this.#fail(new Error(`there are more than ${this.#options.maxFolders} folders to watch`));
      return;
    }
    try {
      const watcher = watch(folder.at(''), { encoding: 'buffer' }, (kind, name) =>
        this.#onEvent(path, kind, name?.toString('latin1') ?? null),
      );
      watcher.on('error', (error) => this.#fail(error));
      this.#folders.set(path, { watcher, identity: folder.identity, subfolders: new Set() });
      if (path !== '') this.#folders.get(parentOf(path))?.subfolders.add(path);
    } catch (error) {
      // The folder is gone already: the event that says so is on its way.
      if (systemErrorCode(error) !== 'ENOENT') this.#fail(asError(error));
    }
  }

  /** Stops watching a folder and all below it. */
  remove(path: string): void {
    const folder = this.#folders.get(path);
    if (!folder) return;
    this.#folders.delete(path);
    this.#folders.get(parentOf(path))?.subfolders.delete(path);
    folder.watcher.close();
    for (const subfolder of folder.subfolders) this.remove(subfolder);
  }

  close(): void {
    this.#isClosed = true;
    for (const { watcher } of this.#folders.values()) watcher.close();
    this.#folders.clear();
  }

  #onEvent(folder: string, kind: string, name: string | null): void {
    if (this.#isClosed) return;
    this.#events += 1;
    if (name === null) this.#options.onDirty(folder, true);
    if (name === null) return;
    const path = folder === '' ? name : `${folder}/${name}`;
    if (this.#options.isSkipped(folder, name)) return;
    if (kind === 'rename' && aboutItself.test(name)) this.#followItself(folder, path);
    const isNewFolder = kind === 'rename' && this.#followFolder(path);
    this.#options.onDirty(path, isNewFolder);
  }

  /** Maybe the folder itself was removed, and maybe another is at its path: to that, the watcher is blind. */
  #followItself(folder: string, path: string): void {
    if (this.#look(() => lstatSync(systemPath(this.#options.root, path))) !== null) return;
    this.remove(folder);
    this.#followFolder(folder);
    this.#options.onDirty(folder, true);
  }

  /** Something came to be, or ceased to be, at the path: whether it is a folder that was not watched. */
  #followFolder(path: string): boolean {
    const pinned = this.#pin(path);
    try {
      const watched = this.#folders.get(path);
      if (watched && watched.identity !== pinned?.identity) this.remove(path);
      if (!pinned || watched?.identity === pinned.identity || this.#options.isIgnored(path)) return false;
      this.#addTree(path, pinned);
      return true;
    } finally {
      pinned?.close();
    }
  }

  #addTree(path: string, pinned: PinnedFolder): void {
    this.add(path, pinned);
    const present = this.#look(() => readdirSync(pinned.at(''), { encoding: 'buffer', withFileTypes: true }));
    for (const one of present ?? []) {
      const name = one.name.toString('latin1');
      if (!one.isDirectory() || this.#options.isSkipped(path, name)) continue;
      if (this.#options.isIgnored(`${path}/${name}`)) continue;
      const below = this.#pin(`${path}/${name}`);
      if (below) this.#addTree(`${path}/${name}`, below);
      below?.close();
    }
  }

  #pin(path: string): PinnedFolder | null {
    return this.#look(() => pinFolder(this.#options.root, path));
  }

  /** What may not be looked at is not watched; who compares the tree meets the same refusal. */
  #look<Result>(act: () => Result): Result | null {
    try {
      return orNull(act);
    } catch (error) {
      if (!['EACCES', 'EPERM'].includes(systemErrorCode(error) ?? '')) this.#fail(asError(error));
      return null;
    }
  }

  #fail(error: Error): void {
    if (this.#isClosed) return;
    this.close();
    this.#options.onFailure(error);
  }
}

/** Of what happens to the folder itself we hear under the name of the descriptor it was opened by. */
const aboutItself = /^\d+$/;

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
