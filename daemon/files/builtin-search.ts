import { setImmediate as nextTurn } from 'node:timers/promises';
import { createContext, Script } from 'node:vm';
import ignore from 'ignore';
import { CodedError } from '../contract/errors.ts';
import { PathChangedError } from '../lib/confined-folder.ts';
import { listInside, readInside, statInside } from '../lib/confined-reads.ts';
import { systemErrorCode } from '../lib/durable-errors.ts';
import type { IgnoreRules } from '../lib/ignore-rules.ts';
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
  const stage = createStage();
  const isWanted = globFilter(query);
  const endsMs = performance.now() + searchTimeoutMs;
  let complete = true;
  let turnEndsMs = performance.now() + turnMs;
  for (const path of textFiles(root, query.path, rules)) {
    if (performance.now() > turnEndsMs) {
      await nextTurn();
      turnEndsMs = performance.now() + turnMs;
      if (query.signal.aborted || turnEndsMs > endsMs) return { complete: false };
    }
    if (path === null || !isWanted(path)) continue;
    const content = readText(root, path);
    if (content === null) continue;
    for (const lines of blocksOf(content)) {
      const found = matchLines(stage, pattern, lines);
      if (found === 'too slow') complete = false;
      else for (const match of found) if (!onMatch(path, match)) return { complete: true };
      if (performance.now() > turnEndsMs) {
        await nextTurn();
        turnEndsMs = performance.now() + turnMs;
        if (query.signal.aborted || turnEndsMs > endsMs) return { complete: false };
      }
    }
  }
  return { complete };
}

/** Others get their turn after so much work at a stretch; no pattern gets longer on one block of lines. */
const turnMs = 10;
const blockBytes = 64 * 1024;

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
    for (const { name, stat } of quietly(() => listInside(root, folder ?? '')) ?? []) {
      const inside = folder === '' ? name : `${folder}/${name}`;
      const left =
        isReservedName(name) || (!takeIgnored && rules.ignoresInside(folder, inside, stat.kind === 'folder'));
      if (!left && stat.kind === 'folder') pending.push(inside);
      yield !left && stat.kind === 'file' && stat.size <= maxSearchedBytes ? inside : null;
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

/** Whole lines, about 64 KiB of them at a time. */
function* blocksOf(content: Buffer): Generator<Block> {
  let line = 1;
  for (let from = 0; from < content.length; ) {
    const newline = content.indexOf(10, Math.min(from + blockBytes, content.length));
    const to = newline < 0 ? content.length : newline + 1;
    const bytes = content.subarray(from, to);
    yield { bytes, line };
    for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) line += 1;
    from = to;
  }
}

type Stage = <T>(work: () => T) => T | 'too slow';

/** A pattern can take for ever on an unlucky line: what runs in here is ended by the clock. */
function createStage(): Stage {
  const context = createContext({ work: () => undefined as unknown });
  const script = new Script('work()');
  return (work) => {
    context.work = work;
    try {
      return script.runInContext(context, { timeout: turnMs });
    } catch (error) {
      if (systemErrorCode(error) === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return 'too slow';
      throw error;
    }
  };
}

type LineMatch = ReturnType<typeof cutLine> & { readonly line: number };

function matchLines(stage: Stage, pattern: RegExp, block: Block): LineMatch[] | 'too slow' {
  return stage(() => {
    const found: LineMatch[] = [];
    const text = block.bytes.toString('utf8');
    let line = block.line;
    for (const content of text.split('\n')) {
      const plain = content.endsWith('\r') ? content.slice(0, -1) : content;
      const at = plain.search(pattern);
      if (at >= 0)
        found.push({ line, ...cutLine(Buffer.from(plain), Buffer.byteLength(plain.slice(0, at))) });
      line += 1;
    }
    return found;
  });
}
