import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { toBytePath } from './byte-path.ts';
import { PathChangedError } from './confined-folder.ts';
import {
  linkInside,
  makeFolderInside,
  removeEmptyParents,
  removeInside,
  renameInside,
  writeInside,
} from './confined-fs.ts';
import { listInside, openFileInside, readInside, statInside } from './confined-reads.ts';
import { systemErrorCode } from './durable-errors.ts';
import { type TempFolder, tempFolder } from './testing/temp-folder.ts';

let base: TempFolder;
let root: string;
let outside: string;

beforeEach(async () => {
  base = await tempFolder();
  root = join(base.path, 'root');
  outside = join(base.path, 'outside');
  mkdirSync(root);
  mkdirSync(outside);
  writeFileSync(join(outside, 'file'), 'OUTSIDE');
});
afterEach(() => base[Symbol.asyncDispose]());

const bytes = (text: string) => Buffer.from(text);
const at = (path: string) => join(root, path);
const anything = { expect: 'anything' } as const;

function statOf(path: string) {
  const stat = statInside(root, path);
  if (stat === null) throw new Error(`nothing at ${path}`);
  return stat;
}

describe('writeInside', () => {
  test('makes a new file with the permissions that the umask leaves, and the folders above it', () => {
    const umask = process.umask(0o027);
    try {
      const { madeFolders } = writeInside(root, 'a/b/new', bytes('x'), { expect: 'absent' });
      writeInside(root, 'run.sh', bytes('x'), { expect: 'absent', executable: true });
      expect(madeFolders).toEqual(['a', 'a/b']);
    } finally {
      process.umask(umask);
    }
    expect(statOf('a/b/new').mode).toBe(0o640);
    expect(statOf('run.sh').mode).toBe(0o750);
    expect(statOf('a/b').mode).toBe(0o750);
    expect(readFileSync(at('a/b/new'), 'utf8')).toBe('x');
  });

  test('gives the permissions asked for, whatever the umask', () => {
    writeInside(root, 'private', bytes('x'), { expect: 'absent', mode: 0o600 });
    writeInside(root, 'open', bytes('x'), { expect: 'absent', mode: 0o777 });
    expect([statOf('private').mode, statOf('open').mode]).toEqual([0o600, 0o777]);
  });

  test('leaves no temporary file, neither after a write nor after one that failed', () => {
    writeInside(root, 'file', bytes('1'), { expect: 'absent' });
    writeInside(root, 'file', bytes('2'), anything);
    mkdirSync(at('folder'));
    expect(() => writeInside(root, 'file', bytes('3'), { expect: 'absent' })).toThrow(PathChangedError);
    expect(() => writeInside(root, 'folder', bytes('3'), anything)).toThrow(/EISDIR|EEXIST/);
    expect(readdirSync(root).sort()).toEqual(['file', 'folder']);
    expect(readFileSync(at('file'), 'utf8')).toBe('2');
  });

  test('changes nothing where the file is another than expected: replaced, written to, gone, come', () => {
    writeInside(root, 'file', bytes('old'), { expect: 'absent' });
    const expect_ = statOf('file');
    const refused = (path: string, expected: Parameters<typeof writeInside>[3]['expect']) =>
      expect(() => writeInside(root, path, bytes('new'), { expect: expected })).toThrow(PathChangedError);
    writeFileSync(at('file'), 'other');
    refused('file', expect_);
    const written = statOf('file');
    writeInside(root, 'file', bytes('other'), anything);
    refused('file', written);
    removeInside(root, 'file', anything);
    refused('file', written);
    writeFileSync(at('file'), 'came');
    refused('file', 'absent');
    expect(readFileSync(at('file'), 'utf8')).toBe('came');
    expect(readdirSync(root)).toEqual(['file']);
  });

  test('replaces a link at the path itself and leaves what it leads to alone', () => {
    symlinkSync(join(outside, 'file'), at('link'));
    writeInside(root, 'link', bytes('mine'), anything);
    expect(lstatSync(at('link')).isFile()).toBe(true);
    expect(readFileSync(join(outside, 'file'), 'utf8')).toBe('OUTSIDE');
  });

  test('leaves other hard links of the file with the old content', () => {
    writeFileSync(at('one'), 'old');
    linkSync(at('one'), at('two'));
    writeInside(root, 'one', bytes('new'), { expect: statOf('one') });
    expect([readFileSync(at('one'), 'utf8'), readFileSync(at('two'), 'utf8')]).toEqual(['new', 'old']);
  });

  test('refuses a path whose folder is a link, inside or outside, and never makes folders through it', () => {
    mkdirSync(at('real'));
    symlinkSync(outside, at('out'));
    symlinkSync('real', at('in'));
    symlinkSync('nowhere', at('dangling'));
    symlinkSync('loop', at('loop'));
    for (const path of ['out/file', 'out/new/file', 'in/file', 'in/new/file'])
      expect(() => writeInside(root, path, bytes('x'), anything)).toThrow(PathChangedError);
    for (const path of ['dangling/file', 'loop/file'])
      expect(() => writeInside(root, path, bytes('x'), anything)).toThrow();
    expect(readdirSync(outside)).toEqual(['file']);
    expect(readFileSync(join(outside, 'file'), 'utf8')).toBe('OUTSIDE');
    expect(readdirSync(at('real'))).toEqual([]);
  });

  test('refuses what is no byte path, as a mistake of the program', () => {
    for (const path of ['', '..', '../x', 'a/../b', '/etc/x', './x', 'a//b', 'a\0b', 'a/.'])
      expect(() => writeInside(root, path, bytes('x'), anything)).toThrow(RangeError);
  });

  test('writes under every name that the file system takes', () => {
    const names = ['new\nline', '😀', '-rf', ' ', '"quoted"', 'a\\b', '*', 'ü'].map(toBytePath);
    for (const name of [...names, '\xff\xfe']) {
      writeInside(root, `dir ${name}/${name}`, bytes('x'), { expect: 'absent' });
      expect(readInside(root, `dir ${name}/${name}`, { maxBytes: 1 })?.bytes?.toString()).toBe('x');
      expect(listInside(root, `dir ${name}`)?.map((entry) => entry.name)).toEqual([name]);
    }
    expect(readdirSync(at('dir 😀'))).toEqual(['😀']);
  });

  test('leaves the file and its folder open for who wants to sync them', () => {
    const { open } = writeInside(root, 'a/file', bytes('x'), { expect: 'absent', keepOpen: true });
    for (const descriptor of [open?.file, open?.folder]) {
      if (descriptor == null) throw new Error('nothing was left open');
      fsyncSync(descriptor);
      closeSync(descriptor);
    }
  });

  test('in a folder that may not be written to, fails and loses nothing', ({ skip }) => {
    if (process.getuid?.() !== 0) skip('giving up the rights of root needs root');
    chmodSync(base.path, 0o755);
    chmodSync(root, 0o755);
    mkdirSync(at('read-only'));
    writeFileSync(at('read-only/file'), 'old');
    const script = join(import.meta.dirname, 'testing/write-as-nobody.ts');
    const said = execFileSync(process.execPath, [script, root, 'read-only/file'], { encoding: 'utf8' });
    expect(said).toBe('EACCES file\n');
    expect(readFileSync(at('read-only/file'), 'utf8')).toBe('old');
  });
});

describe('linkInside', () => {
  test('makes a link, replaces one, and refuses where another has come', () => {
    linkInside(root, 'a/link', bytes('../target'), { expect: 'absent' });
    expect(readlinkSync(at('a/link'))).toBe('../target');
    linkInside(root, 'a/link', bytes('other'), { expect: statOf('a/link') });
    expect(readlinkSync(at('a/link'))).toBe('other');
    expect(() => linkInside(root, 'a/link', bytes('x'), { expect: 'absent' })).toThrow(PathChangedError);
    expect(readdirSync(at('a'))).toEqual(['link']);
  });
});

describe('removeInside', () => {
  test('removes a file, a link itself, an empty folder; a full one it leaves', () => {
    writeFileSync(at('file'), '');
    symlinkSync(outside, at('link'));
    mkdirSync(at('empty'));
    mkdirSync(at('full'));
    writeFileSync(at('full/file'), '');
    for (const path of ['file', 'link', 'empty/']) removeInside(root, path, anything);
    expect(() => removeInside(root, 'full/', anything)).toThrow(/ENOTEMPTY/);
    expect(readdirSync(root)).toEqual(['full']);
    expect(readdirSync(outside)).toEqual(['file']);
  });

  test('leaves what is not the expected entry any more', () => {
    writeFileSync(at('file'), 'old');
    const seen = statOf('file');
    writeFileSync(at('file'), 'newer');
    expect(() => removeInside(root, 'file', { expect: seen })).toThrow(PathChangedError);
    expect(readFileSync(at('file'), 'utf8')).toBe('newer');
  });
});

describe('renameInside', () => {
  const free = { from: 'anything', to: 'absent' } as const;

  test('moves files and folders, and makes the folder they go to', () => {
    mkdirSync(at('a/b'), { recursive: true });
    writeFileSync(at('a/b/file'), 'x');
    expect(renameInside(root, 'a', 'c/d', free)).toEqual({ madeFolders: ['c'] });
    renameInside(root, 'c/d/b/file', 'file', free);
    expect(readFileSync(at('file'), 'utf8')).toBe('x');
  });

  test('refuses to replace what it was not told of, and replaces what it was', () => {
    writeFileSync(at('from'), 'from');
    writeFileSync(at('to'), 'to');
    expect(() => renameInside(root, 'from', 'to', free)).toThrow(PathChangedError);
    renameInside(root, 'from', 'to', { from: statOf('from'), to: statOf('to') });
    expect([readdirSync(root), readFileSync(at('to'), 'utf8')]).toEqual([['to'], 'from']);
  });

  test('changes upper and lower case alone', () => {
    writeFileSync(at('readme.md'), 'x');
    renameInside(root, 'readme.md', 'README.md', free);
    expect(readdirSync(root)).toEqual(['README.md']);
  });

  test('leaves one name of two hard links of the same file', () => {
    writeFileSync(at('one'), 'x');
    linkSync(at('one'), at('two'));
    renameInside(root, 'one', 'two', { from: 'anything', to: 'anything' });
    expect(readdirSync(root)).toEqual(['two']);
  });
});

describe('folders', () => {
  test('are made as far as they are missing, and said which', () => {
    mkdirSync(at('a'));
    expect(makeFolderInside(root, 'a/b/c/')).toEqual(['a/b', 'a/b/c']);
    expect(makeFolderInside(root, 'a/b/c')).toEqual([]);
    writeFileSync(at('file'), '');
    expect(() => makeFolderInside(root, 'file/below')).toThrow(/ENOTDIR/);
    expect(() => makeFolderInside(root, 'file')).toThrow(/ENOTDIR/);
  });

  test('are removed upwards while they are empty, down to one that is to be kept', () => {
    mkdirSync(at('a/b/c/d'), { recursive: true });
    expect(removeEmptyParents(root, 'a/b/c/d/file', (folder) => folder === 'a/b')).toEqual([
      'a/b/c/d',
      'a/b/c',
    ]);
    writeFileSync(at('a/file'), '');
    expect(removeEmptyParents(root, 'a/b/file', () => false)).toEqual(['a/b']);
    expect(readdirSync(at('a'))).toEqual(['file']);
  });
});

describe('reads', () => {
  test('give content, target or nothing, and never wait for a pipe or open a device', () => {
    writeFileSync(at('file'), 'content');
    symlinkSync(join(outside, 'file'), at('link'));
    mkdirSync(at('folder'));
    execFileSync('mkfifo', [at('pipe')]);
    const read = (path: string) => readInside(root, path, { maxBytes: 100 });
    expect(read('file')?.bytes?.toString()).toBe('content');
    expect(read('link')).toMatchObject({ stat: { kind: 'link' }, bytes: bytes(join(outside, 'file')) });
    expect(read('folder')).toMatchObject({ stat: { kind: 'folder' }, bytes: null });
    expect(read('pipe')).toMatchObject({ stat: { kind: 'other' }, bytes: null });
    expect([read('missing'), read('file/below'), read('missing/below')]).toEqual([null, null, null]);
    for (const path of ['pipe', 'folder', 'link', 'missing']) expect(openFileInside(root, path)).toBeNull();
  });

  test('give content up to the limit, and only its stat one byte over', () => {
    writeFileSync(at('file'), 'content');
    expect(readInside(root, 'file', { maxBytes: 7 })?.bytes?.length).toBe(7);
    expect(readInside(root, 'file', { maxBytes: 6 })).toMatchObject({ bytes: null, stat: { size: 7 } });
  });

  test('refuse a folder that is a link, to a place inside too', () => {
    mkdirSync(at('real'));
    writeFileSync(at('real/file'), 'x');
    symlinkSync(outside, at('out'));
    symlinkSync('real', at('in'));
    for (const path of ['out/file', 'in/file']) {
      expect(() => readInside(root, path, { maxBytes: 9 })).toThrow(PathChangedError);
      expect(() => statInside(root, path)).toThrow(PathChangedError);
      expect(() => openFileInside(root, path)).toThrow(PathChangedError);
    }
    expect(() => listInside(root, 'out')).toThrow(PathChangedError);
  });

  test('pass on that the system refuses', () => {
    let code: string | undefined;
    try {
      statInside(root, 'n'.repeat(256));
    } catch (error) {
      code = systemErrorCode(error);
    }
    expect(code).toBe('ENAMETOOLONG');
    expect(statInside(root, 'n'.repeat(255))).toBeNull();
  });
});
