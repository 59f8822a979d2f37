import { readFileSync } from 'node:fs';
import { fromHex, toHex } from './blob.ts';
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

/** Contents that were handed out as the state before a run, and that no stored snapshot names yet. */
export interface HeldContents {
  readonly run: string;
  readonly oids: readonly string[];
}

const head = '{"format":"tallystick/baseline/v1"}';
const maxHeld = 1000;

/**
 * The baseline on disk: lines of JSON, of which the last about a path counts. It is appended to as the baseline moves
 * (that survives the end of the process), and written anew and durably by `rewrite`.
 */
export class BaselineLog {
  readonly #path: string;
  #held: HeldContents[] = [];
  #appended = 0;

  constructor(path: string) {
    this.#path = path;
  }

  get held(): readonly HeldContents[] {
    return this.#held;
  }

  /** Fills an empty index; false where there is no baseline that can be read. */
  load(index: TreeIndex): boolean {
    const text = orNull(() => readFileSync(this.#path, 'utf8'));
    const lines = text?.split('\n') ?? [];
    if (lines[0] !== head) return false;
    for (const line of lines.slice(1)) {
      // A crash may have cut the last line short: what it was about is looked at anew.
      const parsed = parse(line);
      if (Array.isArray(parsed)) index.set(parsed[0], entryOf(parsed));
      else if (parsed) this.#hold(parsed);
    }
    return true;
  }

  append(entries: Iterable<readonly [path: string, entry: Entry | null]>): void {
    let text = '';
    for (const [path, entry] of entries) {
      text += `${JSON.stringify(lineOf(path, entry))}\n`;
      this.#appended += 1;
    }
    if (text !== '') appendFileSync(this.#path, text, false);
  }

  /** Keeps what a run was handed from being dropped until `release`. */
  hold(run: string, oids: readonly string[]): void {
    if (oids.length === 0) return;
    this.#hold({ run, oids });
    appendFileSync(this.#path, `${JSON.stringify({ run, oids })}\n`, false);
  }

  release(runs: ReadonlySet<string>): void {
    this.#held = this.#held.filter(({ run }) => !runs.has(run));
  }

  isLong(index: TreeIndex): boolean {
    return this.#appended > 10_000 + 2 * index.count;
  }

  rewrite(index: TreeIndex): void {
    const parts = [`${head}\n`];
    for (const [path, entry] of index.leavesBelow('')) parts.push(`${JSON.stringify(lineOf(path, entry))}\n`);
    for (const held of this.#held) parts.push(`${JSON.stringify(held)}\n`);
    replaceFileSync(this.#path, parts.join(''));
    this.#appended = 0;
  }

  #hold(held: HeldContents): void {
    this.#held.push(held);
    if (this.#held.length > maxHeld) this.#held.shift();
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
function parse(line: string): Line | HeldContents | undefined {
  try {
    return JSON.parse(line) as Line | HeldContents;
  } catch {
    return undefined;
  }
}
