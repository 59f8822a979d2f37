import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import type { Readable } from 'node:stream';
import * as z from 'zod';
import { CodedError } from '../contract/errors.ts';
import { openConfined } from '../lib/confined-folder.ts';
import { openFileInside, statInside } from '../lib/confined-reads.ts';
import { cutLine } from './cut-line.ts';
import { maxSearchedBytes, type SearchEngine, type SearchQuery, searchTimeoutMs } from './search-query.ts';

/** Absolute path of ripgrep, looked for in the folders of PATH; null where there is none. */
export function findRipgrep(environment: NodeJS.ProcessEnv): string | null {
  const name = process.platform === 'win32' ? 'rg.exe' : 'rg';
  const folders = (environment.PATH ?? environment.Path ?? '').split(delimiter);
  return (
    folders
      .filter(isAbsolute)
      .map((folder) => join(folder, name))
      .find(isProgram) ?? null
  );
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    // Not there, or not to be executed by us.
    return false;
  }
}

interface RipgrepOptions extends SearchEngine {
  readonly program: string;
  readonly environment: NodeJS.ProcessEnv;
}

/** @throws CodedError invalid_request with what ripgrep says of the pattern or glob */
export async function ripgrepSearch(
  root: string,
  query: SearchQuery,
  { program, environment, onMatch }: RipgrepOptions,
): Promise<{ readonly complete: boolean }> {
  using target = openTarget(root, query.path);
  if (target === null) return { complete: true };
  const child = spawn(program, [...fixedArguments, ...queryArguments(query), ...target.arguments], {
    cwd: target.cwd,
    env: cleanEnvironment(environment),
    stdio: [target.stdin ?? 'ignore', 'pipe', 'pipe'],
    windowsHide: true,
  }) as ChildProcessByStdio<null, Readable, Readable>;
  let stopped = false;
  const stop = () => {
    stopped = true;
    child.kill('SIGKILL');
  };
  const timer = setTimeout(stop, searchTimeoutMs);
  query.signal.addEventListener('abort', stop, { once: true });
  try {
    const errors = collectErrors(child.stderr);
    const exit = exitOf(child);
    for await (const event of matchEvents(child.stdout)) {
      const match = matchOf(event);
      if (match === null) continue;
      if (onMatch(target.pathOf(match.path), match.found)) continue;
      stop();
      break;
    }
    const code = await exit;
    if (!stopped && code === 2 && errors.text !== '') throw invalid(errors.text);
    return { complete: !stopped && code !== null && code < 2 };
  } finally {
    clearTimeout(timer);
    query.signal.removeEventListener('abort', stop);
    child.kill('SIGKILL');
  }
}

/** No configuration file, no links followed, nothing read of ignore files outside the folder; hidden files, too. */
const fixedArguments = [
  '--json',
  '--no-config',
  '--no-messages',
  '--hidden',
  '--no-follow',
  '--no-require-git',
  '--no-ignore-parent',
  '--no-ignore-dot',
  '--crlf',
  '--threads=2',
  `--max-filesize=${maxSearchedBytes}`,
];

function queryArguments({ pattern, regex, caseSensitive, glob }: SearchQuery): string[] {
  return [
    caseSensitive ? '--case-sensitive' : '--ignore-case',
    ...(regex ? [] : ['--fixed-strings']),
    ...(glob === undefined ? [] : [`--glob=${glob}`]),
    // The last one that fits decides.
    '--iglob=!.git',
    '--iglob=!.service',
    '--',
    pattern,
  ];
}

interface Target extends Disposable {
  readonly cwd: string;
  readonly arguments: readonly string[];
  readonly stdin: number | undefined;
  /** Byte path in the workspace of what ripgrep names. */
  pathOf(named: string): string;
}

/** The folder or file itself is handed over, not its path: what stands there can't be swapped for a link. */
function openTarget(root: string, path: string): Target | null {
  if (path !== '' && statInside(root, path)?.kind !== 'folder') {
    const file = openFileInside(root, path);
    if (file === null) return null;
    const close = () => file[Symbol.dispose]();
    return {
      cwd: '/',
      arguments: ['-'],
      stdin: file.descriptor,
      pathOf: () => path,
      [Symbol.dispose]: close,
    };
  }
  const folder = openConfined(root, path);
  return {
    cwd: folder.self.toString(),
    arguments: ['./'],
    stdin: undefined,
    pathOf: (named) => (path === '' ? '' : `${path}/`) + named.replace(/^\.[/\\]/, ''),
    [Symbol.dispose]: () => folder[Symbol.dispose](),
  };
}

function cleanEnvironment(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { PATH, HOME, XDG_CONFIG_HOME, SYSTEMROOT, USERPROFILE } = environment;
  const kept = { PATH, HOME, XDG_CONFIG_HOME, SYSTEMROOT, USERPROFILE, LC_ALL: 'C.UTF-8' };
  return Object.fromEntries(Object.entries(kept).filter(([, value]) => value !== undefined));
}

const maxErrorText = 1000;

function collectErrors(stream: Readable): { readonly text: string } {
  const errors = { text: '' };
  stream.setEncoding('utf8').on('data', (text: string) => {
    errors.text = (errors.text + text).slice(0, maxErrorText);
  });
  return errors;
}

/** Null where it was killed. @throws the error where it could not be started */
async function exitOf(child: ChildProcessByStdio<null, Readable, Readable>): Promise<number | null> {
  const { promise, resolve, reject } = Promise.withResolvers<number | null>();
  child.once('close', resolve).once('error', reject);
  return promise;
}

const maxEventBytes = 4 * maxSearchedBytes;

/** Lines of the output that tell of a match. */
async function* matchEvents(stream: Readable): AsyncGenerator<Buffer> {
  let pending: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    let from = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      const line = Buffer.concat([...pending, chunk.subarray(from, end)]);
      pending = [];
      bytes = 0;
      from = end + 1;
      if (line.includes('"type":"match"')) yield line;
    }
    pending.push(chunk.subarray(from));
    bytes += chunk.length - from;
    if (bytes > maxEventBytes) return;
  }
}

const Text = z.union([z.object({ text: z.string() }), z.object({ bytes: z.base64() })]);

const MatchEvent = z.object({
  type: z.literal('match'),
  data: z.object({
    path: Text,
    lines: Text,
    line_number: z.int(),
    submatches: z.array(z.object({ start: z.int() })).min(1),
  }),
});

function matchOf(line: Buffer) {
  const event = MatchEvent.safeParse(JSON.parse(line.toString('utf8')));
  if (!event.success) return null;
  const { path, lines, line_number, submatches } = event.data.data;
  const content = withoutLineEnd(bytesOf(lines));
  return {
    path: bytesOf(path).toString('latin1'),
    found: { line: line_number, ...cutLine(content, submatches[0]?.start ?? 0) },
  };
}

const bytesOf = (text: z.infer<typeof Text>) =>
  'text' in text ? Buffer.from(text.text) : Buffer.from(text.bytes, 'base64');

function withoutLineEnd(line: Buffer): Buffer {
  const end = line.at(-1) === 10 ? line.length - 1 : line.length;
  return line.subarray(0, line[end - 1] === 13 ? end - 1 : end);
}

const invalid = (text: string) =>
  new CodedError('invalid_request', `The search is not valid: ${text.replace(/^(rg: )?/, '').trim()}`);
