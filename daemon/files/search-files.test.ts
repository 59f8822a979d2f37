import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type TempFolder, tempFolder } from '../lib/testing/temp-folder.ts';
import { findRipgrep } from './ripgrep.ts';
import { searchFiles } from './search-files.ts';
import { maxSearchedBytes, type SearchQuery } from './search-query.ts';

let base: TempFolder;
let root: string;
const ripgrep = findRipgrep(process.env);

beforeAll(async () => {
  base = await tempFolder();
  root = join(base.path, 'root');
  const contents: Record<string, string | Buffer> = {
    'a.ts': 'const Needle = 1;\nneedle(needle);\r\nother\n',
    'b/c.ts': 'é😀 needle\n',
    'b/d.md': '# Needle\n',
    'b/last line': 'no newline at the end, needle',
    '-e': 'needle in a file with a dash\n',
    'é/ü.txt': 'needle\n',
    'long.js': `${'x'.repeat(5000)}needle${'y'.repeat(5000)}`,
    binary: Buffer.from('\0\0needle\n'),
    'latin1.txt': Buffer.from('caf\xe9 needle\n', 'latin1'),
    'regex.txt': 'a.c\nabc\n(x)\n$HOME\n',
    '.hidden': 'needle\n',
    '.gitignore': 'ignored/\n*.log\n',
    'ignored/e.ts': 'needle\n',
    'f.log': 'needle\n',
    'b/.gitignore': '!g.log\n',
    'b/g.log': 'needle\n',
    '.git/config': 'needle\n',
    'b/.git/config': 'needle\n',
    '.service/x': 'needle\n',
    '.ignore': 'a.ts\n',
    'kept.txt': `${'z'.repeat(maxSearchedBytes - 8)}\nneedle\n`,
    'over.txt': `${'z'.repeat(maxSearchedBytes - 7)}\nneedle\n`,
    '../outside/secret': 'needle OUTSIDE\n',
  };
  for (const [path, content] of Object.entries(contents)) {
    mkdirSync(join(root, path, '..'), { recursive: true });
    writeFileSync(join(root, path), content);
  }
  symlinkSync('../outside', join(root, 'out'));
  symlinkSync('../outside/secret', join(root, 'out-file'));
});
afterAll(() => base[Symbol.asyncDispose]());

const found = [
  '-e:1:1',
  '.hidden:1:1',
  'a.ts:1:7',
  'a.ts:2:1',
  'b/c.ts:1:4',
  'b/d.md:1:3',
  'b/g.log:1:1',
  'b/last line:1:24',
  'kept.txt:2:1',
  'latin1.txt:1:6',
  'long.js:1:5001',
  'é/ü.txt:1:1',
];

describe.each([
  ['ripgrep', ripgrep],
  ['builtin', null],
] as const)('a search by %s', (engine, program) => {
  const search = async (pattern: string, query: Partial<SearchQuery> = {}) => {
    const all = { regex: false, caseSensitive: false, path: '', glob: undefined, limit: 1000 };
    const { signal } = new AbortController();
    const options = { ripgrep: program, environment: { ...process.env, HOME: base.path } };
    const result = await searchFiles(root, { ...all, pattern, signal, ...query }, options);
    const places = result.matches.map(({ path, line, column }) => `${path}:${line}:${column}`);
    return { ...result, places };
  };

  test.skipIf(engine === 'ripgrep' && program === null)(
    'finds a line once, by path and line, in what git does not ignore',
    async () => {
      const result = await search('needle');
      expect(result).toMatchObject({ engine, truncated: false });
      expect(result.places).toEqual(found);
      expect(result.matches.find(({ path }) => path === 'a.ts')?.text).toBe('const Needle = 1;');
      expect(result.matches.find(({ path, line }) => path === 'a.ts' && line === 2)?.text).toBe(
        'needle(needle);',
      );
      expect(result.matches.find(({ path }) => path === 'long.js')?.text).toMatch(/^…x{60}needley+…$/);
      expect(result.matches.find(({ path }) => path === 'latin1.txt')?.text).toBe('caf\ufffd needle');
    },
  );

  test.skipIf(engine === 'ripgrep' && program === null)(
    'tells cases apart, takes text as it is, and regular expressions where asked',
    async () => {
      expect((await search('Needle', { caseSensitive: true })).places).toEqual(['a.ts:1:7', 'b/d.md:1:3']);
      expect((await search('a.c')).places).toEqual(['regex.txt:1:1']);
      expect((await search('a.c', { regex: true })).places).toEqual(['regex.txt:1:1', 'regex.txt:2:1']);
      expect((await search('^needle$', { regex: true })).places).toContain('.hidden:1:1');
      expect((await search('other$', { regex: true })).places).toEqual(['a.ts:3:1']);
      expect((await search('^$', { regex: true, path: 'a.ts' })).places).toEqual([]);
      expect((await search('needle\\);$', { regex: true })).places).toEqual(['a.ts:2:8']);
      for (const text of ['(x)', '$HOME', '-e', '--help', '.'])
        expect((await search(text)).truncated).toBe(false);
      expect((await search('(x)')).places).toEqual(['regex.txt:3:1']);
      expect((await search('$HOME')).places).toEqual(['regex.txt:4:1']);
      expect((await search('--pre=touch /tmp/x')).places).toEqual([]);
    },
  );

  test.skipIf(engine === 'ripgrep' && program === null)(
    'keeps to a folder, a file or a glob; a folder that is ignored can be asked for',
    async () => {
      expect((await search('needle', { path: 'b' })).places).toEqual(
        found.filter((place) => place.startsWith('b/')),
      );
      expect((await search('needle', { path: 'b/c.ts' })).places).toEqual(['b/c.ts:1:4']);
      expect((await search('needle', { path: 'ignored' })).places).toEqual(['ignored/e.ts:1:1']);
      expect((await search('needle', { path: 'f.log' })).places).toEqual(['f.log:1:1']);
      expect((await search('needle', { glob: '*.ts' })).places).toEqual([
        'a.ts:1:7',
        'a.ts:2:1',
        'b/c.ts:1:4',
      ]);
      expect((await search('needle', { glob: '!*.ts', path: 'b' })).places).toEqual([
        'b/d.md:1:3',
        'b/g.log:1:1',
        'b/last line:1:24',
      ]);
      expect((await search('needle', { glob: '.git/**' })).places).toEqual([]);
    },
  );

  test.skipIf(engine === 'ripgrep' && program === null)(
    'gives as many as asked for, and says whether there are more',
    async () => {
      const all = found.length;
      expect(await search('needle', { limit: all })).toMatchObject({ truncated: false });
      const less = await search('needle', { limit: all - 1 });
      expect([less.matches.length, less.truncated]).toEqual([all - 1, true]);
    },
  );

  test.skipIf(engine === 'ripgrep' && program === null)(
    'refuses a pattern that is none, with the reason',
    async () => {
      for (const pattern of ['(', '[', '*', 'a{2,1}'])
        await expect(search(pattern, { regex: true })).rejects.toMatchObject({ code: 'invalid_request' });
      await expect(search('(', { regex: true })).rejects.toThrow(/group|paren/i);
    },
  );

  test.skipIf(engine === 'ripgrep' && program === null)('ends when its caller has gone', async () => {
    const gone = AbortSignal.abort();
    expect(await search('needle', { signal: gone, limit: 1 })).toMatchObject({ truncated: true });
  });
});

test('a pattern that would take for ever on one line is given up there, and the rest is searched', async () => {
  await using folder = await tempFolder();
  writeFileSync(join(folder.path, 'evil'), `${'a'.repeat(40)}b\n`);
  writeFileSync(join(folder.path, 'good'), 'aac\n');
  const query = {
    pattern: '^(a+)+c$',
    regex: true,
    caseSensitive: true,
    path: '',
    glob: undefined,
    limit: 10,
  };
  const tools = { ripgrep: null, environment: process.env };
  const result = await searchFiles(folder.path, { ...query, signal: new AbortController().signal }, tools);
  expect(result).toMatchObject({ matches: [{ path: 'good' }], truncated: true });
});
