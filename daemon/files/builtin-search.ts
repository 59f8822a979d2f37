import { createContext, Script } from 'node:vm';
import ignore from 'ignore';
import { CodedError } from '../contract/errors.ts';
import { PathChangedError } from '../lib/confined-folder.ts';
import { namesInside, readInside, statInside } from '../lib/confined-reads.ts';
import { systemErrorCode } from '../lib/durable-errors.ts';
import type { IgnoreRules } from '../lib/ignore-rules.ts';
import { Turns } from '../lib/turns.ts';
import { cutLine } from './cut-line.ts';
import { isReservedName } from './reserved-names.ts';
import { maxSearchedBytes, type SearchEngine, type SearchQuery, searchTimeoutMs } from './search-query.ts';

/** Where there is no ripgrep: walks the tree itself, in short turns, so that others are served meanwhile. */
export async function builtinSearch(
  root: string,
  query: SearchQuery,
  { rules, onMatch }: SearchEngine & { readonly rules: IgnoreRules },
): Promise<{ readonly complete: boolean }> {
  const pattern = compile(query);
  const findIn = query.regex ? matchInStage(pattern) : matchLiteral(pattern, query.pattern.length);
  const isWanted = globFilter(query);
  const search = new Search(query.signal);
  let complete = true;
  for (const path of textFiles(root, query.path, rules)) {
    if (!(await search.goOn())) return { complete: false };
    const content = path === null || !isWanted(path) ? null : readText(root, path);
    if (path === null || content === null) continue;
    for (const lines of blocksOf(content)) {
      if (!(await search.goOn())) return { complete: false };
      const found = await findIn(lines, search);
      if (found === 'too slow') complete = false;
      else for (const match of found) if (!onMatch(path, match)) return { complete: true };
    }
  }
  return { complete };
}

const blockBytes = 64 * 1024;
/** A regular expression gets no longer on one block of lines. */
const patternMs = 10;

class Search {
  readonly #signal: AbortSignal;
  readonly #endsMs = performance.now() + searchTimeoutMs;
  readonly #turns = new Turns();

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  /** False where the time is up, or nobody wants the answer any more. */
  async goOn(): Promise<boolean> {
    await this.#turns.pause();
    return !this.#signal.aborted && performance.now() < this.#endsMs;
  }
}

function compile({ pattern, regex, caseSensitive }: SearchQuery): RegExp {
  const source = regex ? pattern : pattern.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
  try {
    return new RegExp(source, caseSensitive ? 'u' : 'iu');
  } catch (cause) {
    const detail = cause instanceof Error ? cause.message : '';
    throw new CodedError('invalid_request', `The search is not valid: ${detail}`, { cause });
  }
}

function globFilter({ glob, path }: SearchQuery): (file: string) => boolean {
  if (glob === undefined) return () => true;
  const unwanted = glob.startsWith('!');
  const matcher = ignore({ allowRelativePaths: true }).add(
    Buffer.from(unwanted ? glob.slice(1) : glob).toString('latin1'),
  );
  const from = path === '' ? 0 : path.length + 1;
  return (file) => file.length <= from || matcher.ignores(file.slice(from)) !== unwanted;
}

/** Byte paths of regular files; null for what else was passed, so that the caller can end its turn. */
function* textFiles(root: string, path: string, rules: IgnoreRules): Generator<string | null> {
  if (path !== '' && statInside(root, path)?.kind !== 'folder') {
    yield path;
    return;
  }
  const takeIgnored = path !== '' && rules.ignores(path, true);
  const pending = [path];
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    for (const name of quietly(() => namesInside(root, folder ?? '')) ?? []) {
      const inside = folder === '' ? name : `${folder}/${name}`;
      const stat = quietly(() => statInside(root, inside));
      const left =
        isReservedName(name) ||
        (!takeIgnored && rules.ignoresInside(folder, inside, stat?.kind === 'folder'));
      if (!left && stat?.kind === 'folder') pending.push(inside);
      yield !left && stat?.kind === 'file' && stat.size <= maxSearchedBytes ? inside : null;
    }
  }
}

/** Null for what can't be read, has gone, or is no text. */
function readText(root: string, path: string): Buffer | null {
  const bytes = quietly(() => readInside(root, path, { maxBytes: maxSearchedBytes }))?.bytes ?? null;
  return bytes === null || bytes.includes(0) ? null : bytes;
}

/** A search goes past what it may not read, as ripgrep does. */
function quietly<T>(work: () => T): T | null {
  try {
    return work();
  } catch (error) {
    if (error instanceof PathChangedError || systemErrorCode(error) !== undefined) return null;
    throw error;
  }
}

interface Block {
  readonly bytes: Buffer;
  /** Number of the first line, from 1. */
  readonly line: number;
}

/** Whole lines, up to 64 KiB of them at a time; a line that is longer is alone. */
function* blocksOf(content: Buffer): Generator<Block> {
  let line = 1;
  for (let from = 0; from < content.length; ) {
    const newline = content.indexOf(10, from);
    const end = newline < 0 ? content.length : newline + 1;
    const last = content.lastIndexOf(10, from + blockBytes - 1) + 1;
    const to = end - from >= blockBytes || content.length - from <= blockBytes ? end : Math.max(end, last);
    yield { bytes: content.subarray(from, to), line };
    for (let at = content.indexOf(10, from); at >= 0 && at < to; at = content.indexOf(10, at + 1)) line += 1;
    from = to;
  }
}

type LineMatch = ReturnType<typeof cutLine> & { readonly line: number };
type Matcher = (block: Block, search: Search) => Promise<LineMatch[] | 'too slow'>;

/** Plain text takes no longer than the line is long: a long line is looked at piece by piece. */
function matchLiteral(pattern: RegExp, length: number): Matcher {
  return async (block, search) => {
    if (block.bytes.length < blockBytes) return matchLines(pattern, block);
    const text = withoutReturn(textOf(block));
    for (let at = 0; at < text.length; at += blockBytes) {
      const found = text.slice(at, at + blockBytes + length).search(pattern);
      if (found >= 0) return [matchAt(block.line, text, at + found)];
      if (!(await search.goOn())) return 'too slow';
    }
    return [];
  };
}

/** A regular expression can take for ever on an unlucky line: what runs in here is ended by the clock. */
function matchInStage(pattern: RegExp): Matcher {
  const context = createContext({ work: () => undefined as unknown });
  const script = new Script('work()');
  return async (block) => {
    context.work = () => matchLines(pattern, block);
    try {
      return script.runInContext(context, { timeout: patternMs });
    } catch (error) {
      // The error may be of another realm, so that it is no `Error` here.
      if (Object(error).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return 'too slow';
      throw error;
    }
  };
}

function matchLines(pattern: RegExp, block: Block): LineMatch[] {
  const found: LineMatch[] = [];
  let line = block.line;
  for (const content of textOf(block).split('\n')) {
    const text = withoutReturn(content);
    const at = text.search(pattern);
    if (at >= 0) found.push(matchAt(line, text, at));
    line += 1;
  }
  return found;
}

function matchAt(line: number, text: string, at: number): LineMatch {
  return { line, ...cutLine(Buffer.from(text), Buffer.byteLength(text.slice(0, at))) };
}

const textOf = ({ bytes }: Block) =>
  bytes.toString('utf8', 0, bytes.at(-1) === 10 ? bytes.length - 1 : bytes.length);

const withoutReturn = (line: string) => (line.endsWith('\r') ? line.slice(0, -1) : line);
