import { lstatSync, opendirSync, readdirSync } from 'node:fs';
import { parentOf, systemPath as plainPath } from '../lib/byte-path.ts';
import { systemErrorCode } from '../lib/durable-errors.ts';
import type { IgnoreRules } from '../lib/ignore-rules.ts';
import type { ObjectStore } from './object-store.ts';
import { orNull, type PinnedFolder, pinFolder } from './pinned-folder.ts';
import { isUnchanged, readEntry } from './read-entry.ts';
import { isSkippedName, isSkippedPath } from './skipped-paths.ts';
import { type Entry, emptyFolder, type TreeIndex } from './tree-index.ts';

/** A leaf that is not (or not quite) what the index has. */
export interface Finding {
  readonly path: string;
  readonly before: Entry | null;
  readonly after: Entry | null;
  /** It only came under the ignore rules, or out from under them: no change of the tree. */
  readonly isSilent: boolean;
}

export interface ScannerOptions {
  readonly root: string;
  readonly index: TreeIndex;
  readonly store: ObjectStore;
  readonly rules: IgnoreRules;
  /** The rules that the index was made by, where they are others. */
  readonly oldRules: IgnoreRules | null;
  /** Whether to read files again of which the store does not have what the index says. */
  readonly checksStore: boolean;
  /** Called before a folder is read, so that it can be watched from before that on. */
  readonly onFolder: (path: string, folder: PinnedFolder) => void;
}

/** Compares the tree, or parts of it, with the index, which it leaves as it is; contents go to the store. */
export class TreeScanner {
  readonly findings = new Map<string, Finding>();
  readonly #options: ScannerOptions;

  constructor(options: ScannerOptions) {
    this.#options = options;
  }

  /** A folder (`''`: all) with all below it. Yields now and then, for who has other things to do. */
  *walk(folder: string): Generator<void> {
    const { root, index, onFolder } = this.#options;
    const pinned = readable(() => pinFolder(root, folder));
    if (pinned === undefined) return;
    if (pinned === null) {
      this.#gone(folder);
      return;
    }
    const subfolders: string[] = [];
    try {
      onFolder(folder, pinned);
      if (folder !== '' && index.get(folder)) this.#record(folder, null);
      yield* this.#readFolder(folder, pinned, subfolders);
    } finally {
      pinned.close();
    }
    yield;
    for (const subfolder of subfolders) yield* this.walk(subfolder);
  }

  /** One path that something happened to; `deep`: with all below it, where it is a folder. */
  examine(path: string, deep: boolean): void {
    const { root, rules, index } = this.#options;
    if (path === '') exhaust(this.walk(''));
    if (path === '' || isSkippedPath(path)) return;
    const parent = readable(() => pinFolder(root, parentOf(path)));
    if (parent === undefined) return;
    try {
      const systemPath = parent?.at(lastOf(path));
      const stats = systemPath === undefined ? null : readable(() => orNull(() => lstatSync(systemPath)));
      if (stats === undefined) return;
      if (stats === null || systemPath === undefined) this.#gone(path);
      else if (rules.ignores(path, stats.isDirectory())) return;
      else if (!stats.isDirectory()) this.#file(path, systemPath);
      else if (deep) exhaust(this.walk(path));
      else {
        if (index.get(path)) this.#record(path, null);
        this.checkEmptiness(path);
      }
    } finally {
      parent?.close();
    }
  }

  /** Whether a folder is empty now: that makes it a leaf. */
  checkEmptiness(folder: string): void {
    const { root, rules, index } = this.#options;
    if (folder === '' || isSkippedPath(folder)) return;
    const pinned = readable(() => pinFolder(root, folder));
    if (pinned === undefined) return;
    const isLeaf = pinned !== null && isEmpty(pinned) && !rules.ignores(folder, true);
    pinned?.close();
    if (isLeaf) this.#record(`${folder}/`, { ...emptyFolder, ctimeMs: pinned.ctimeMs });
    else if (index.get(`${folder}/`)) this.#record(`${folder}/`, null);
  }

  *#readFolder(folder: string, pinned: PinnedFolder, subfolders: string[]): Generator<void> {
    const { index, rules } = this.#options;
    const present = readable(() => readdirSync(pinned.at(''), { encoding: 'buffer', withFileTypes: true }));
    if (present === undefined) return;
    const seen = new Set<string>();
    const ignored = new Set<string>();
    let read = 0;
    for (const one of present) {
      const name = one.name.toString('latin1');
      if (isSkippedName(folder, name)) continue;
      const path = folder === '' ? name : `${folder}/${name}`;
      const isFolder = one.isDirectory();
      if (rules.ignoresInside(folder, path, isFolder)) {
        ignored.add(name);
      } else if (isFolder) {
        seen.add(name).add(`${name}/`);
        subfolders.push(path);
      } else {
        seen.add(name);
        this.#file(path, pinned.at(name));
        read += 1;
        if (read % 50 === 0) yield;
      }
    }
    for (const name of index.namesIn(folder)) {
      if (seen.has(name)) continue;
      const path = folder === '' ? name : `${folder}/${name}`;
      this.#gone(path.replace(/\/$/, ''), ignored.has(name.replace(/\/$/, '')));
    }
    if (folder === '') return;
    if (present.length === 0) this.#record(`${folder}/`, { ...emptyFolder, ctimeMs: pinned.ctimeMs });
    else if (index.get(`${folder}/`)) this.#record(`${folder}/`, null);
  }

  #file(path: string, systemPath: Buffer | string): void {
    const { root, index, store, checksStore } = this.#options;
    if (index.get(`${path}/`) || index.hasLeavesBelow(path)) this.#gone(path);
    const known = index.get(path);
    const entry = readable(() => {
      // Asked for by its name: that takes half the time of the safe way, and another file can't pass for the known one.
      const stats = known && orNull(() => lstatSync(plainPath(root, path)));
      if (stats && known && isUnchanged(known, stats) && !(checksStore && isLost(known, store))) return known;
      return readEntry(systemPath, store);
    });
    // A file that may not be read stays what it was: it is neither gone nor known to be another.
    if (entry === undefined || entry === known) return;
    store.flushIfLarge();
    this.#record(path, entry);
  }

  /** Nothing is at the path any more, neither a file nor a folder. */
  #gone(path: string, isSilent = false): void {
    const { index } = this.#options;
    if (index.get(path)) this.#record(path, null, isSilent);
    if (index.get(`${path}/`)) this.#record(`${path}/`, null, isSilent);
    for (const [leaf] of index.leavesBelow(path)) this.#record(leaf, null, isSilent);
  }

  #record(path: string, after: Entry | null, isSilent = this.#wasIgnored(path)): void {
    this.findings.set(path, { path, before: this.#options.index.get(path), after, isSilent });
  }

  #wasIgnored(path: string): boolean {
    const isFolder = path.endsWith('/');
    return this.#options.oldRules?.ignores(isFolder ? path.slice(0, -1) : path, isFolder) ?? false;
  }
}

/** Undefined where we may not look; other failures are thrown. */
function readable<Result>(act: () => Result): Result | undefined {
  try {
    return act();
  } catch (error) {
    if (['EACCES', 'EPERM'].includes(systemErrorCode(error) ?? '')) return undefined;
    throw error;
  }
}

/** What the saved baseline says is stored may have been lost with the pack that held it. */
function isLost(entry: Entry, store: ObjectStore): boolean {
  return entry.id !== null && !store.has(entry.id);
}

function isEmpty(folder: PinnedFolder): boolean {
  const opened = readable(() => opendirSync(folder.at('').toString()));
  if (opened === undefined) return false;
  try {
    return opened.readSync() === null;
  } finally {
    opened.closeSync();
  }
}

function exhaust(steps: Iterable<void>): void {
  for (const _ of steps);
}

const lastOf = (path: string) => path.slice(path.lastIndexOf('/') + 1);
