import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { OutsideRootError } from './open-folder.ts';
import { LinkLoopError, resolveInside } from './resolve-inside.ts';
import { type TempFolder, tempFolder } from './testing/temp-folder.ts';

let base: TempFolder;
let root: string;

beforeAll(async () => {
  base = await tempFolder();
  root = join(base.path, 'root');
  mkdirSync(join(root, 'real/deep'), { recursive: true });
  mkdirSync(join(base.path, 'outside'));
  mkdirSync(join(base.path, 'root-beside'));
  writeFileSync(join(root, 'real/file'), '');
  const links: Record<string, string> = {
    folder: 'real',
    file: 'real/file',
    chain: 'folder/deep/../file',
    absolute: join(root, 'real'),
    rootItself: '.',
    'real/up': '../real/deep',
    dangling: 'real/missing',
    danglingDeep: 'missing/below',
    out: '../outside',
    outAbsolute: join(base.path, 'outside'),
    outMissing: '/no/such/place',
    beside: `${root}-beside`,
    above: '..',
    backIn: `../root/real`,
    viaOut: 'out/../root/real',
    loop: 'loop',
    ping: 'pong',
    pong: 'ping',
  };
  for (const [name, target] of Object.entries(links)) symlinkSync(target, join(root, name));
});
afterAll(() => base[Symbol.asyncDispose]());

describe('resolveInside', () => {
  const follows: Record<string, string> = {
    '': '',
    '.': '',
    './real//deep/': 'real/deep',
    'real/file': 'real/file',
    'folder/file': 'real/file',
    file: 'real/file',
    chain: 'real/file',
    'absolute/deep': 'real/deep',
    'rootItself/rootItself/file': 'real/file',
    'real/up/new': 'real/deep/new',
    'missing/below': 'missing/below',
    'real/file/below': 'real/file/below',
    dangling: 'real/missing',
    danglingDeep: 'missing/below',
  };

  test.for(Object.entries(follows))('leads %s to %s', ([requested, real]) => {
    expect(resolveInside(root, requested, 'follow')).toBe(real);
  });

  test('keeps a link at the end where it is asked to, and follows those above it', () => {
    expect(resolveInside(root, 'folder', 'keep')).toBe('folder');
    expect(resolveInside(root, 'folder/up', 'keep')).toBe('real/up');
    expect(resolveInside(root, 'out', 'keep')).toBe('out');
    expect(resolveInside(root, 'loop', 'as-written')).toBe('loop');
    expect(resolveInside(root, '', 'as-written')).toBe('');
  });

  const outside = [
    '..',
    '../root/real',
    'real/../real',
    'real/..',
    '/',
    '/etc/passwd',
    'out',
    'out/x',
    'outAbsolute/x',
    'outMissing',
    'beside',
    'above',
    'above/root/real',
    'backIn',
    'viaOut',
  ];

  test.for(outside)('refuses %s', (requested) => {
    expect(() => resolveInside(root, requested, 'follow')).toThrow(OutsideRootError);
  });

  test('refuses the workspace by its own absolute path, as every absolute path', () => {
    expect(() => resolveInside(root, join(root, 'real'), 'follow')).toThrow(OutsideRootError);
  });

  test('gives up on links that lead in a circle', () => {
    for (const requested of ['loop', 'loop/x', 'ping', 'pong/x'])
      expect(() => resolveInside(root, requested, 'follow')).toThrow(LinkLoopError);
  });

  test('follows 40 links, and not 41', () => {
    for (let count = 1; count <= 41; count += 1)
      symlinkSync(count === 1 ? 'real' : `many-${count - 1}`, join(root, `many-${count}`));
    expect(resolveInside(root, 'many-40', 'follow')).toBe('real');
    expect(() => resolveInside(root, 'many-41', 'follow')).toThrow(LinkLoopError);
  });
});
