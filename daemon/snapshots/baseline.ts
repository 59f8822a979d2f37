import { lstatSync } from 'node:fs';
import { dirname } from 'node:path';
import { parentOf, systemPath } from '../lib/byte-path.ts';
import { IgnoreRules } from '../lib/ignore-rules.ts';
import type { BaselineLog, Handed, Move } from './baseline-log.ts';
import { fromHex } from './blob.ts';
import type { EntryState, TreeChange } from './entry-state.ts';
import type { ObjectStore } from './object-store.ts';
import { orNull, type PinnedFolder } from './pinned-folder.ts';
import { type Entry, isSameState, stateOf, TreeIndex } from './tree-index.ts';
import { type Finding, TreeScanner } from './tree-scanner.ts';

/** What may differ from the baseline. */
export interface Dirty {
  /** Anything: the whole tree has to be looked at. */
  readonly all: boolean;
  /** By path; true: with all below it. */
  readonly paths: ReadonlyMap<string, boolean>;
}

export interface BaselineOptions {
  readonly root: string;
  readonly store: ObjectStore;
  readonly log: BaselineLog;
  readonly onFolder: (path: string, folder: PinnedFolder) => void;
}

/** The tree as it was when it was last told apart from what changes it: in memory, and in the log. */
export class Baseline {
  readonly index = new TreeIndex();
  rules: IgnoreRules;
  /** Bytes of contents that left the baseline; a guess at what the store could do without. */
  replacedBytes = 0;
  readonly #options: BaselineOptions;

  constructor(options: BaselineOptions) {
    this.#options = options;
    this.rules = new IgnoreRules(options.root);
  }

  /** For who takes the whole tree step by step, as is done once, when it is opened. */
  scanner(): TreeScanner {
    return this.#scanner(null, true);
  }

  /** Compares with the tree; changes nothing but the store, and the rules where their files have changed. */
  look({ all, paths }: Dirty): Finding[] {
    const ruleFolders = [...paths.keys()].filter(isRuleFile).map(parentOf);
    const isAll = all || paths.has('') || this.rules.changedOutside();
    const oldRules = isAll || ruleFolders.length > 0 ? this.rules : null;
    if (oldRules) this.rules = new IgnoreRules(this.#options.root);
    const scanner = this.#scanner(oldRules, false);
    if (isAll) scanner.examine('', true);
    else {
      for (const [path, deep] of paths) scanner.examine(path, deep);
      for (const folder of ruleFolders) scanner.examine(folder, true);
      for (const folder of new Set([...paths.keys()].map(parentOf))) scanner.checkEmptiness(folder);
    }
    return [...scanner.findings.values()].filter(isNews);
  }

  /** Moves on by what was found. All or, where it throws, nothing. */
  commit(findings: readonly Finding[]): void {
    const moves = movesOf(findings);
    this.#options.log.append(moves);
    this.#move(moves, findings);
  }

  /** The same, as a run is handed the changes. */
  handOut(handed: Handed, findings: readonly Finding[]): void {
    const moves = movesOf(findings);
    this.#options.log.handOut(handed, moves);
    this.#move(moves, findings);
  }

  /** The state of a path is known without a look at the tree, which has to confirm it later. */
  set(path: string, state: EntryState | null): void {
    const entry = state === null ? null : entryOf(state);
    const replaced = entry === null ? [] : this.#inTheWay(path);
    const moves: Move[] = [...replaced.map((leaf): Move => [leaf, null]), [path, entry]];
    this.#options.log.append(moves);
    this.#move(moves, []);
  }

  /**
   * The latest time, by the clock of the file system, at which it may have come to be as it is: when it was changed
   * itself, or something in a folder on the way to it, such as that it was moved there.
   */
  changedAtMs({ path, after }: Finding): number {
    const { root } = this.#options;
    let latestMs = after?.ctimeMs ?? 0;
    for (let folder = path; folder !== ''; ) {
      folder = parentOf(folder.replace(/\/$/, ''));
      // Of a folder that is gone, the one that it was in tells when: of the root too.
      const stats = lstatOf(systemPath(root, folder)) ?? (folder === '' ? lstatOf(dirname(root)) : null);
      if (stats) latestMs = Math.max(latestMs, stats.ctimeMs);
    }
    return latestMs;
  }

  #scanner(oldRules: IgnoreRules | null, checksStore: boolean): TreeScanner {
    const { root, store, onFolder } = this.#options;
    const { index, rules } = this;
    return new TreeScanner({ root, store, onFolder, index, rules, oldRules, checksStore });
  }

  #move(moves: readonly Move[], findings: readonly Finding[]): void {
    for (const [path, entry] of moves) this.index.set(path, entry);
    for (const { before, after } of findings)
      if (before?.id && before.id !== after?.id) this.replacedBytes += before.size;
  }

  /** Leaves that can't be where `path` is: empty folders above it, what is below it. */
  #inTheWay(path: string): string[] {
    const name = path.replace(/\/$/, '');
    const leaves = [...this.index.leavesBelow(name)].map(([leaf]) => leaf);
    for (let folder = name; folder !== ''; folder = parentOf(folder)) leaves.push(folder, `${folder}/`);
    return leaves.filter((leaf) => leaf !== path && this.index.get(leaf) !== null);
  }
}

/** What is gone first: a file may have come to be where a folder was. */
function movesOf(findings: readonly Finding[]): Move[] {
  const gone = findings.filter(({ after }) => after === null);
  return [...gone, ...findings.filter(({ after }) => after !== null)].map(({ path, after }) => [path, after]);
}

/** As of a file that was not looked at: it will be read when it is. */
export function entryOf(state: EntryState): Entry {
  const { mode, size, hash, oid } = state;
  const sha = hash === 'absent' ? '' : fromHex(hash.slice('sha256:'.length));
  return { mode, size, sha, id: oid && fromHex(oid), mtimeMs: -1, ctimeMs: -1, ino: 0, isRacy: true };
}

export function changesOf(findings: readonly Finding[]): TreeChange[] {
  return findings
    .filter(({ before, after, isSilent }) => !isSilent && !isSameState(before, after))
    .map(({ path, before, after }) => ({ path, before: stateOf(before), after: stateOf(after) }))
    .sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** An empty folder that stays one is none, whatever its times. */
function isNews({ before, after }: Finding): boolean {
  return !isSameState(before, after) || (after !== null && after.mode !== '040000');
}

const isRuleFile = (path: string) => path === '.gitignore' || path.endsWith('/.gitignore');

const lstatOf = (path: string | Buffer) => orNull(() => lstatSync(path));
