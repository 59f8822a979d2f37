import { dirname, join } from 'node:path';
import { expandInclude, type IncludeBase } from './expand-include.ts';
import type { Entry, ParsedFile, Section } from './parse-file.ts';
import type { ConfigStore } from './store.ts';

/** A file with the files it includes. */
export interface ConfigNode {
  readonly path: string;
  /** The user's, in contrast to the system's. */
  readonly isUser: boolean;
  readonly file: ParsedFile;
  /** Why ssh would not use this file; null where it would. */
  readonly problem: string | null;
  /** By the entry of the Include line. */
  readonly includes: ReadonlyMap<Entry, Included>;
  readonly wantsFinalPass: boolean;
}

export interface Included {
  readonly nodes: readonly ConfigNode[];
  readonly problem: string | null;
}

export interface ConfigSource {
  readonly path: string;
  readonly isUser: boolean;
  readonly home: string;
  /** Whether others being able to write to it rules the file out, as for an included one. */
  readonly mustBePrivate: boolean;
}

const maxDepth = 16;
/** Files that include each other many times over could be read for ever. */
const maxIncludes = 2000;
const empty: ParsedFile = { sections: [], named: new Map(), general: [], wantsFinalPass: false };

/** Reads a configuration file and all that it includes; null where it is not there. */
export async function readTree(source: ConfigSource, store: ConfigStore): Promise<ConfigNode | null> {
  const folder = source.isUser ? join(source.home, '.ssh') : dirname(source.path);
  const base = { folder, home: source.isUser ? source.home : null };
  return new TreeReader(source.isUser, base, store).read(source.path, source.mustBePrivate, []);
}

class TreeReader {
  readonly #isUser: boolean;
  readonly #base: IncludeBase;
  readonly #store: ConfigStore;
  #included = 0;

  constructor(isUser: boolean, base: IncludeBase, store: ConfigStore) {
    this.#isUser = isUser;
    this.#base = base;
    this.#store = store;
  }

  async read(path: string, mustBePrivate: boolean, ancestors: readonly string[]): Promise<ConfigNode | null> {
    const result = await this.#store.read(path);
    if (result.outcome === 'missing') return null;
    if (result.outcome === 'unreadable')
      return this.#node(path, empty, new Map(), `${path} can not be read: ${result.why}`);
    const { file } = result;
    const includes = new Map<Entry, Included>();
    for (const entry of file.sections.flatMap(includeEntries))
      includes.set(entry, await this.#include(entry, path, [...ancestors, path]));
    const unsafe = mustBePrivate && result.unsafe;
    return this.#node(
      path,
      file,
      includes,
      unsafe ? `${path} has a bad owner or can be written by others` : null,
    );
  }

  #node(path: string, file: ParsedFile, includes: Map<Entry, Included>, problem: string | null): ConfigNode {
    const wantsFinalPass =
      file.wantsFinalPass ||
      [...includes.values()].some(({ nodes }) => nodes.some((node) => node.wantsFinalPass));
    return { path, isUser: this.#isUser, file, includes, problem, wantsFinalPass };
  }

  async #include(entry: Entry, path: string, ancestors: readonly string[]): Promise<Included> {
    const failed = (why: string): Included => ({ nodes: [], problem: `${path} line ${entry.line}: ${why}` });
    if (entry.words === null) return failed('a quote is not closed');
    if (entry.rest === '' || entry.words.includes('')) return failed('Include without a value');
    const nodes: ConfigNode[] = [];
    for (const pattern of entry.words) {
      const paths = await expandInclude(pattern, this.#base, this.#store);
      if (typeof paths === 'string') return failed(paths);
      for (const included of paths) {
        if (ancestors.includes(included)) return failed(`${included} includes itself`);
        if (ancestors.length > maxDepth) return failed('too many files include each other');
        if (++this.#included > maxIncludes) return failed(`more than ${maxIncludes} files are included`);
        const node = await this.read(included, true, ancestors);
        if (node !== null) nodes.push(node);
      }
    }
    return { nodes, problem: null };
  }
}

function includeEntries(section: Section): Entry[] {
  return section.entries.filter(({ keyword }) => keyword === 'include');
}
