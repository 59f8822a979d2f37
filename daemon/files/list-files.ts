import { readdir } from 'node:fs/promises';
import { CodedError } from '../contract/errors.ts';
import type { TreeEntry, TreePage } from '../contract/files.ts';
import { fromBytePath, parentOf } from '../lib/byte-path.ts';
import { timestamp } from '../lib/clock.ts';
import { type ConfinedFolder, openConfined } from '../lib/confined-folder.ts';
import { isAbsence, orAbsent, statIn, targetIn } from '../lib/confined-reads.ts';
import type { IgnoreRules } from '../lib/ignore-rules.ts';
import { tempFileName } from '../lib/put-in-place.ts';
import { Turns } from '../lib/turns.ts';
import { textOf } from './locate.ts';
import { isReservedName } from './reserved-names.ts';

export interface ListOptions {
  /** Real byte path of a folder, '' for the workspace. */
  readonly folder: string;
  /** What the page before gave as `next`. */
  readonly after: string | undefined;
  readonly limit: number;
  /** Whether what is in its folders comes too, each folder before what it holds; what git ignores is not entered. */
  readonly recursive: boolean;
  readonly rules: IgnoreRules;
}

/**
 * A page of a folder's entries, folders first, then by the bytes of their names. What git and the service keep for
 * themselves is left out.
 *
 * @throws CodedError folder_not_found, invalid_request; PathChangedError; the system's error
 */
export async function listFiles(root: string, options: ListOptions): Promise<TreePage> {
  const { folder, after, limit, recursive, rules } = options;
  checkFolder(root, folder);
  const walk = { root, rules, recursive, inIgnored: folder !== '' && rules.ignores(folder, true) };
  const entries: TreeEntry[] = [];
  const turns = new Turns();
  using held = new HeldFolder(root);
  let last: Found | undefined;
  for await (const found of entriesOf(walk, folder, after === undefined ? null : parseCursor(after))) {
    if (entries.length === limit && last !== undefined)
      return { path: textOf(folder), entries, next: cursorOf(last, folder) };
    await turns.pause();
    const entry = describe(held, found);
    if (entry === null) continue;
    entries.push(entry);
    last = found;
  }
  return { path: textOf(folder), entries, next: null };
}

function checkFolder(root: string, folder: string): void {
  try {
    openConfined(root, folder)[Symbol.dispose]();
  } catch (error) {
    if (!isAbsence(error)) throw error;
    throw new CodedError('folder_not_found', `There is no folder ${textOf(folder) || '.'}.`, {
      cause: error,
    });
  }
}

interface Walk {
  readonly root: string;
  readonly rules: IgnoreRules;
  readonly recursive: boolean;
  /** Whether the folder that is listed is ignored, and so is all in it. */
  readonly inIgnored: boolean;
}

interface Name {
  readonly name: string;
  readonly isFolder: boolean;
}

interface Found extends Name {
  readonly path: string;
  readonly ignored: boolean;
}

/** Where a page ended: the parts of the path below the listed folder; all but the last are folders. */
interface Cursor {
  readonly parts: readonly string[];
  readonly isFolder: boolean;
}

/** What comes after the cursor. A folder that goes away while it is walked simply ends there. */
async function* entriesOf(walk: Walk, folder: string, cursor: Cursor | null): AsyncGenerator<Found> {
  const [head, ...rest] = cursor?.parts ?? [];
  const start =
    head === undefined ? null : { name: head, isFolder: rest.length > 0 || cursor?.isFolder === true };
  for (const entry of await namesIn(walk.root, folder)) {
    const order = start === null ? 1 : compare(entry, start);
    if (order < 0) continue;
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    const ignored = walk.inIgnored || walk.rules.ignoresInside(folder, path, entry.isFolder);
    if (order > 0) yield { ...entry, path, ignored };
    if (!walk.recursive || !entry.isFolder || (ignored && !walk.inIgnored)) continue;
    yield* entriesOf(
      walk,
      path,
      order === 0 && cursor !== null && rest.length > 0 ? { ...cursor, parts: rest } : null,
    );
  }
}

async function namesIn(root: string, folder: string): Promise<Name[]> {
  try {
    using open = openConfined(root, folder);
    const entries = await readdir(open.self, { withFileTypes: true, encoding: 'buffer' });
    return entries
      .map((entry) => ({ name: entry.name.toString('latin1'), isFolder: entry.isDirectory() }))
      .filter(({ name }) => !isReservedName(name) && !tempFileName.test(name))
      .sort(compare);
  } catch (error) {
    if (isAbsence(error)) return [];
    throw error;
  }
}

function compare(a: Name, b: Name): number {
  if (a.isFolder !== b.isFolder) return a.isFolder ? -1 : 1;
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}

/** The folder whose entries are looked at: opened once for all of them, as they come one after the other. */
class HeldFolder implements Disposable {
  readonly #root: string;
  #open: { readonly path: string; readonly folder: ConfinedFolder } | undefined;

  constructor(root: string) {
    this.#root = root;
  }

  /** The folder that `path` is in. */
  of(path: string): ConfinedFolder {
    const parent = parentOf(path);
    if (this.#open?.path === parent) return this.#open.folder;
    this[Symbol.dispose]();
    const folder = openConfined(this.#root, parent);
    this.#open = { path: parent, folder };
    return folder;
  }

  [Symbol.dispose](): void {
    this.#open?.folder[Symbol.dispose]();
    this.#open = undefined;
  }
}

/** Null for what has gone meanwhile. */
function describe(held: HeldFolder, { path, name, ignored }: Found): TreeEntry | null {
  const look = () => {
    const folder = held.of(path);
    const stat = statIn(folder, name);
    return stat === null ? null : { stat, target: stat.kind === 'link' ? targetIn(folder, name) : null };
  };
  const seen = orAbsent(look);
  if (seen === null) return null;
  const { stat, target } = seen;
  const shown = fromBytePath(path);
  return {
    path: shown.path,
    name: fromBytePath(name).path,
    type: stat.kind,
    size: stat.kind === 'file' ? stat.size : null,
    modified_at: timestamp(Number(stat.mtimeNs / 1_000_000n)),
    ignored,
    executable: stat.kind === 'file' && (stat.mode & 0o111) !== 0,
    ...(target === null ? {} : { target: target.toString('utf8') }),
    ...(shown.base64 === undefined ? {} : { utf8: false as const }),
  };
}

function cursorOf({ path, isFolder }: Found, folder: string): string {
  const below = folder === '' ? path : path.slice(folder.length + 1);
  return Buffer.from(isFolder ? `${below}/` : below, 'latin1').toString('base64url');
}

function parseCursor(after: string): Cursor {
  const bytes = Buffer.from(after, 'base64url').toString('latin1');
  const isFolder = bytes.endsWith('/');
  const parts = (isFolder ? bytes.slice(0, -1) : bytes).split('/');
  if (parts.includes(''))
    throw new CodedError('invalid_request', '`after` is not what a page gave as `next`.');
  return { parts, isFolder };
}
