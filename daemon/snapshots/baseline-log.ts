import { readFileSync } from 'node:fs';
import { type Digest, fromHex, toHex } from './blob.ts';
import type { TreeChange } from './entry-state.ts';
import { orNull } from './pinned-folder.ts';
import { appendFileSync, replaceFileSync } from './sync-files.ts';
import type { Entry, TreeIndex } from './tree-index.ts';

type Line =
  | [path: string]
  | [
      path: string,
      mode: Entry['mode'],
      size: number,
      mtimeMs: number,
      ctimeMs: number,
      ino: number,
      isRacy: 0 | 1,
      sha: string,
      id: string | null,
    ];

/** What a run was handed, as long as no stored snapshot tells of it. */
export interface Handed {
  readonly run: string;
  readonly changes: readonly TreeChange[];
}

/** Contents that were stored for something to come. */
interface Reserved {
  readonly reserved: readonly string[];
}

interface Carried {
  readonly carried: readonly TreeChange[];
}

const head = '{"format":"tallystick/baseline/v1"}';
/** Runs, and contents, that wait for a snapshot that never comes are forgotten in the end. */
const maxHanded = 1000;
const maxReserved = 10_000;

export type Move = readonly [path: string, entry: Entry | null];

/**
 * The baseline on disk: lines of JSON, of which the last about a path counts. It is appended to as the baseline moves
 * (that survives the end of the process), and written anew and durably by `rewrite`.
 */
export class BaselineLog {
  readonly #path: string;
  #handed: Handed[] = [];
  #reserved: string[] = [];
  #carried: readonly TreeChange[] = [];
  #appended = 0;
  /** The file may end in the middle of a line: the next one must not be appended to its half. */
  #isTorn = false;

  constructor(path: string) {
    this.#path = path;
  }

  /** Changes that a run made over which the door wrote since, and that nobody was handed yet. */
  get carried(): readonly TreeChange[] {
    return this.#carried;
  }

  /** Contents that are needed for what is not in the ring yet. */
  *needed(): Generator<Digest> {
    for (const { changes } of this.#handed)
      for (const { before } of changes) if (before?.oid) yield fromHex(before.oid);
    for (const oid of this.#reserved) yield fromHex(oid);
  }

  /** Fills an empty index; false where there is no baseline that can be read. */
  load(index: TreeIndex): boolean {
    const text = orNull(() => readFileSync(this.#path, 'utf8'));
    const lines = text?.split('\n') ?? [];
    if (lines[0] !== head) return false;
    // A crash may have cut the last line short: what it was about is looked at anew.
    this.#isTorn = lines.at(-1) !== '';
    for (const line of lines.slice(1)) this.#take(parse(line), index);
    return true;
  }

  append(moves: readonly Move[]): void {
    this.#append(moves.map(([path, entry]) => lineOf(path, entry)));
  }

  /** The same, and that a run is handed changes: in this order, so that a crash can't lose the one and keep the other. */
  handOut(handed: Handed, moves: readonly Move[]): void {
    const lines: unknown[] = moves.map(([path, entry]) => lineOf(path, entry));
    if (handed.changes.length > 0) lines.unshift(handed);
    if (this.#carried.length > 0) lines.push({ carried: [] } satisfies Carried);
    this.#append(lines);
    this.#carried = [];
    if (handed.changes.length > 0) this.#handed = [...this.#handed, handed].slice(-maxHanded);
  }

  setCarried(carried: readonly TreeChange[]): void {
    if (carried.length === 0 && this.#carried.length === 0) return;
    this.#append([{ carried } satisfies Carried]);
    this.#carried = carried;
  }

  reserve(oids: readonly string[]): void {
    this.#append([{ reserved: oids } satisfies Reserved]);
    this.#reserved = [...this.#reserved, ...oids].slice(-maxReserved);
  }

  /** What these runs were handed, and might have got no receipt for. */
  takeHanded(runs: readonly string[]): TreeChange[] {
    const mine = this.#handed.filter(({ run }) => runs.includes(run));
    this.#handed = this.#handed.filter((handed) => !mine.includes(handed));
    return mine.flatMap(({ changes }) => changes);
  }

  /** Snapshots of these runs were stored, which need these contents. */
  release(runs: ReadonlySet<string>, stored: ReadonlySet<Digest>): void {
    const isStored = ({ before }: TreeChange) => !before?.oid || stored.has(fromHex(before.oid));
    this.#handed = this.#handed.filter(({ run, changes }) => !(runs.has(run) && changes.every(isStored)));
  }

  isLong(index: TreeIndex): boolean {
    return this.#appended > 10_000 + 2 * index.count;
  }

  rewrite(index: TreeIndex): void {
    const parts = [`${head}\n`];
    for (const [path, entry] of index.leavesBelow('')) parts.push(`${JSON.stringify(lineOf(path, entry))}\n`);
    for (const handed of this.#handed) parts.push(`${JSON.stringify(handed)}\n`);
    parts.push(`${JSON.stringify({ reserved: this.#reserved } satisfies Reserved)}\n`);
    parts.push(`${JSON.stringify({ carried: this.#carried } satisfies Carried)}\n`);
    replaceFileSync(this.#path, parts.join(''));
    this.#isTorn = false;
    this.#appended = 0;
  }

  #append(lines: readonly unknown[]): void {
    if (lines.length === 0) return;
    const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
    const start = this.#isTorn ? '\n' : '';
    this.#isTorn = true;
    appendFileSync(this.#path, start + text, false);
    this.#isTorn = false;
    this.#appended += lines.length;
  }

  #take(line: Line | Handed | Reserved | Carried | undefined, index: TreeIndex): void {
    if (line === undefined) return;
    if (Array.isArray(line)) index.set(line[0], entryOf(line));
    else if ('run' in line) this.#handed = [...this.#handed, line].slice(-maxHanded);
    else if ('reserved' in line) this.#reserved = [...this.#reserved, ...line.reserved].slice(-maxReserved);
    else this.#carried = line.carried;
  }
}

function lineOf(path: string, entry: Entry | null): Line {
  if (entry === null) return [path];
  const { mode, size, mtimeMs, ctimeMs, ino, isRacy, sha, id } = entry;
  return [path, mode, size, mtimeMs, ctimeMs, ino, isRacy ? 1 : 0, toHex(sha), id && toHex(id)];
}

function entryOf(line: Line): Entry | null {
  if (line.length === 1) return null;
  const [, mode, size, mtimeMs, ctimeMs, ino, isRacy, sha, id] = line;
  return {
    mode,
    size,
    mtimeMs,
    ctimeMs,
    ino,
    isRacy: isRacy === 1,
    sha: fromHex(sha),
    id: id && fromHex(id),
  };
}

/** Our own file: what is JSON in it has the shape that we wrote. */
function parse(line: string): Line | Handed | Reserved | Carried | undefined {
  try {
    return JSON.parse(line) as Line | Handed | Reserved | Carried;
  } catch {
    return undefined;
  }
}
