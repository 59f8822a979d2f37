import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type EntryState, maxKeptBytes } from './entry-state.ts';
import { openTree } from './testing/open-tree.ts';
import type { RunChanges } from './tree-calls.ts';

const hashOf = (content: string | Buffer) => `sha256:${createHash('sha256').update(content).digest('hex')}`;
const pathsOf = ({ changes }: RunChanges) => changes.map(({ path }) => path);
const write = (root: string, path: string, content: string | Buffer = `${path}\n`) => {
  mkdirSync(join(root, path, '..'), { recursive: true });
  writeFileSync(join(root, path), content);
};

// Everything has to hold with and without a watcher.
describe.each([
  { way: 'watched', options: {} },
  { way: 'scanned', options: { maxWatchedFolders: 0 } },
  { way: 'scanned as its events overflow', options: { maxQueuedEvents: 1 } },
])('of a tree that is $way, a run is told', ({ options }) => {
  test('nothing where it changed nothing', async () => {
    await using tree = await openTree((root) => write(root, 'a.txt'), options);
    expect(await tree.run(() => undefined)).toEqual({ changes: [], diffs: [], concurrent: [] });
  });

  test('what it created, changed and removed, with states and diffs', async () => {
    await using tree = await openTree((root) => {
      write(root, 'changed.txt', 'one\ntwo\n');
      write(root, 'removed.txt', 'gone\n');
      write(root, 'same.txt', 'same\n');
    }, options);
    const result = await tree.run(() => {
      write(tree.root, 'changed.txt', 'one\n2\n');
      write(tree.root, 'new/created.txt', 'new\n');
      unlinkSync(join(tree.root, 'removed.txt'));
      // Written anew, but no other.
      write(tree.root, 'same.txt', 'same\n');
    });
    expect(result.changes).toMatchObject([
      {
        path: 'changed.txt',
        before: { mode: '100644', hash: hashOf('one\ntwo\n'), size: 8 },
        after: { mode: '100644', hash: hashOf('one\n2\n'), size: 6 },
      },
      { path: 'new/created.txt', before: null, after: { hash: hashOf('new\n') } },
      { path: 'removed.txt', before: { hash: hashOf('gone\n') }, after: null },
    ]);
    expect(result.diffs).toEqual([
      {
        path: 'changed.txt',
        hunks: [{ old_start: 1, old_lines: 2, new_start: 1, new_lines: 2, lines: [' one', '-two', '+2'] }],
      },
      {
        path: 'new/created.txt',
        hunks: [{ old_start: 0, old_lines: 0, new_start: 1, new_lines: 1, lines: ['+new'] }],
      },
      {
        path: 'removed.txt',
        hunks: [{ old_start: 1, old_lines: 1, new_start: 0, new_lines: 0, lines: ['-gone'] }],
      },
    ]);
    for (const { before } of result.changes)
      if (before?.oid) expect(hashOf((await tree.keeper.read(before.oid)) ?? '')).toBe(before.hash);
    expect(await tree.run(() => undefined)).toMatchObject({ changes: [] });
  });

  test('empty folders, links and executable bits', async () => {
    await using tree = await openTree((root) => {
      mkdirSync(join(root, 'emptied/deep'), { recursive: true });
      mkdirSync(join(root, 'filled'));
      write(root, 'tool.sh');
      symlinkSync('tool.sh', join(root, 'link'));
    }, options);
    const result = await tree.run(() => {
      rmSync(join(tree.root, 'emptied/deep'), { recursive: true });
      write(tree.root, 'filled/file');
      mkdirSync(join(tree.root, 'made/below'), { recursive: true });
      chmodSync(join(tree.root, 'tool.sh'), 0o755);
      unlinkSync(join(tree.root, 'link'));
      symlinkSync('/etc', join(tree.root, 'link'));
    });
    const folder = { mode: '040000', hash: 'absent', size: 0, oid: null };
    expect(result.changes).toMatchObject([
      { path: 'emptied/', before: null, after: folder },
      { path: 'emptied/deep/', before: folder, after: null },
      { path: 'filled/', before: folder, after: null },
      { path: 'filled/file', before: null, after: { mode: '100644' } },
      { path: 'link', before: { mode: '120000', hash: hashOf('tool.sh') }, after: { hash: hashOf('/etc') } },
      { path: 'made/below/', before: null, after: folder },
      { path: 'tool.sh', before: { mode: '100644' }, after: { mode: '100755' } },
    ]);
    expect(result.diffs.map(({ path }) => path)).toEqual(['filled/file', 'link']);
  });

  test('names of any bytes, and names that differ in case', async () => {
    await using tree = await openTree(undefined, options);
    const names = ['-rf', 'a\nb', 'émoji 🎉', 'Case', 'case', ' ', '"'].map((name) => Buffer.from(name));
    names.push(Buffer.from([0x66, 0xff, 0xfe]));
    const result = await tree.run(() => {
      for (const name of names) writeFileSync(Buffer.concat([Buffer.from(`${tree.root}/`), name]), name);
    });
    expect(pathsOf(result)).toEqual(names.map((name) => name.toString('latin1')).sort());
    for (const { path, after } of result.changes)
      expect(after?.hash).toBe(hashOf(Buffer.from(path, 'latin1')));
  });

  test('what moved with a folder', async () => {
    await using tree = await openTree((root) => {
      write(root, 'from/one');
      write(root, 'from/below/two');
    }, options);
    const moved = await tree.run(() => renameSync(join(tree.root, 'from'), join(tree.root, 'to')));
    expect(pathsOf(moved)).toEqual(['from/below/two', 'from/one', 'to/below/two', 'to/one']);
    // What was moved is still watched, by its new name.
    const changed = await tree.run(() => appendFileSync(join(tree.root, 'to/below/two'), 'more'));
    expect(pathsOf(changed)).toEqual(['to/below/two']);
  });

  test('that a folder took the place of a file, and a file that of a folder', async () => {
    await using tree = await openTree((root) => {
      write(root, 'file');
      write(root, 'folder/below');
    }, options);
    const result = await tree.run(() => {
      rmSync(join(tree.root, 'file'));
      write(tree.root, 'file/below');
      rmSync(join(tree.root, 'folder'), { recursive: true });
      write(tree.root, 'folder');
    });
    expect(result.changes.map(({ path, after }) => [path, after !== null])).toEqual([
      ['file', false],
      ['file/below', true],
      ['folder', true],
      ['folder/below', false],
    ]);
  });

  test('nothing of what git ignores, by the rules of every level', async () => {
    await using tree = await openTree((root) => {
      write(root, '.gitignore', '*.log\nbuild/\n!important.log\n/top\n');
      write(root, 'sub/.gitignore', '!kept.log\nlocal\n');
      write(root, 'build/old.js');
    }, options);
    const result = await tree.run(() => {
      for (const path of [
        'a.log',
        'important.log',
        'build/new.js',
        'top',
        'sub/top',
        'sub/kept.log',
        'sub/x.log',
      ])
        write(tree.root, path);
      for (const path of ['sub/local', 'sub/deep/local', 'local', 'node/build/x']) write(tree.root, path);
      rmSync(join(tree.root, 'build/old.js'));
    });
    expect(pathsOf(result)).toEqual(['important.log', 'local', 'sub/kept.log', 'sub/top']);
  });

  test('a change of the ignore rules, but not what comes under them or out from under them', async () => {
    await using tree = await openTree((root) => {
      write(root, '.gitignore', '*.log\n');
      write(root, 'was.log');
      write(root, 'is.tmp');
    }, options);
    const result = await tree.run(() => {
      write(tree.root, '.gitignore', '*.tmp\n');
      write(tree.root, 'new.txt');
    });
    expect(pathsOf(result)).toEqual(['.gitignore', 'new.txt']);
    const after = await tree.run(() => {
      appendFileSync(join(tree.root, 'was.log'), 'more');
      appendFileSync(join(tree.root, 'is.tmp'), 'more');
    });
    expect(pathsOf(after)).toEqual(['was.log']);
  });

  test('nothing of .git and .service, but what is in a nested repository and a submodule', async () => {
    await using tree = await openTree((root) => {
      execFileSync('git', ['init', '-q', root]);
      execFileSync('git', ['init', '-q', join(root, 'nested')]);
      write(root, 'module/.git', 'gitdir: ../.git/modules/module\n');
      write(root, '.service/settings.json');
    }, options);
    const result = await tree.run(() => {
      for (const path of [
        '.git/x',
        'nested/.git/x',
        'nested/src',
        'module/src',
        '.service/x',
        'module/.service/x',
      ])
        write(tree.root, path);
      write(tree.root, 'module/.git', 'gitdir: elsewhere\n');
      write(tree.root, '.tallystick-0123456789abcdef.tmp');
    });
    expect(pathsOf(result)).toEqual(['module/.service/x', 'module/src', 'nested/src']);
  });

  test('contents of up to 10 MiB, and of larger ones their hash', async () => {
    await using tree = await openTree((root) => {
      write(root, 'at', Buffer.alloc(maxKeptBytes, 'a'));
      write(root, 'over', Buffer.alloc(maxKeptBytes + 1, 'b'));
    }, options);
    const { changes } = await tree.run(() => {
      appendFileSync(join(tree.root, 'at'), '.');
      appendFileSync(join(tree.root, 'over'), '.');
    });
    const [at, over] = changes.map(({ before }) => before);
    expect(at).toMatchObject({ size: maxKeptBytes, hash: hashOf(Buffer.alloc(maxKeptBytes, 'a')) });
    expect((await tree.keeper.read(at?.oid ?? ''))?.length).toBe(maxKeptBytes);
    expect(over).toMatchObject({
      size: maxKeptBytes + 1,
      hash: hashOf(Buffer.alloc(maxKeptBytes + 1, 'b')),
      oid: null,
    });
  });

  test('what a link led to is not looked at', async () => {
    await using outside = await openTree((root) => write(root, 'secret'));
    await using tree = await openTree((root) => write(root, 'folder/file'), options);
    const result = await tree.run(() => {
      rmSync(join(tree.root, 'folder'), { recursive: true });
      symlinkSync(outside.root, join(tree.root, 'folder'));
    });
    expect(result.changes).toMatchObject([
      { path: 'folder', before: null, after: { mode: '120000' } },
      { path: 'folder/file', after: null },
    ]);
  });

  test('each change once, where two run at the same time', async () => {
    await using tree = await openTree(undefined, options);
    await tree.keeper.begin('run_a');
    write(tree.root, 'one');
    await tree.keeper.begin('run_b');
    write(tree.root, 'two');
    const a = await tree.keeper.end('run_a');
    write(tree.root, 'three');
    const b = await tree.keeper.end('run_b');
    expect([pathsOf(a), a.concurrent]).toEqual([['one', 'two'], ['run_b']]);
    expect([pathsOf(b), b.concurrent]).toEqual([['three'], ['run_a']]);
    expect((await tree.run(() => undefined)).concurrent).toEqual([]);
  });

  test('nothing of what the door wrote while it ran, but what it did to the same file before', async () => {
    await using tree = await openTree((root) => write(root, 'both', 'zero\n'), options);
    const stateOf = async (content: string): Promise<EntryState> => ({
      mode: '100644',
      hash: hashOf(content),
      size: content.length,
      oid: (await tree.keeper.store([Buffer.from(content)]))[0] ?? '',
    });
    await tree.keeper.begin('run_a');
    write(tree.root, 'both', 'command\n');
    const [command, door] = [await stateOf('command\n'), await stateOf('door\n')];
    const done = await tree.keeper.announce();
    write(tree.root, 'both', 'door\n');
    write(tree.root, 'made', 'door\n');
    const noted = tree.keeper.note(
      [
        { path: 'both', before: command, after: door },
        { path: 'made', before: null, after: door },
      ],
      [],
    );
    done();
    await noted;
    const { changes, diffs } = await tree.keeper.end('run_a');
    expect(changes).toMatchObject([{ path: 'both', before: { hash: hashOf('zero\n') }, after: command }]);
    expect(diffs).toMatchObject([{ path: 'both', hunks: [{ lines: ['-zero', '+command'] }] }]);
    // The door's state is the one from before now.
    const next = await tree.run(() => write(tree.root, 'both', 'next\n'));
    expect(next.changes).toMatchObject([{ path: 'both', before: door, after: { hash: hashOf('next\n') } }]);
  });
});

describe.each([
  { way: 'watched', options: {} },
  { way: 'scanned', options: { maxWatchedFolders: 0 } },
])('of a tree that is $way, a run', ({ options }) => {
  test('is told nothing of what the user did before it, or between runs', async () => {
    await using tree = await openTree((root) => write(root, 'mine'), options);
    for (let round = 0; round < 20; round += 1) {
      write(tree.root, 'mine', `edit ${round}`);
      write(tree.root, `other-${round}`);
      const result = await tree.run(() => write(tree.root, 'theirs', `${round}`));
      expect(pathsOf(result)).toEqual(['theirs']);
    }
    rmSync(join(tree.root, 'other-3'));
    expect(pathsOf(await tree.run(() => undefined))).toEqual([]);
  });
});

test('tells the changes of a command that was under way when the daemon died', async () => {
  await using tree = await openTree((root) => write(root, 'file', 'before\n'));
  await tree.keeper.close();
  write(tree.root, 'file', 'after\n');
  const keeper = await tree.reopen({ interrupted: ['run_dead'] });
  const { changes } = await keeper.end('run_dead');
  expect(changes).toMatchObject([{ path: 'file', before: { hash: hashOf('before\n') } }]);
  expect((await keeper.read(changes[0]?.before?.oid ?? ''))?.toString()).toBe('before\n');
});

test('takes what was edited while it was closed as the new baseline', async () => {
  await using tree = await openTree((root) => {
    write(root, 'kept');
    write(root, 'edited');
    write(root, 'removed');
  });
  const before = readFileSync(join(tree.folder, 'baseline.jsonl'), 'utf8');
  await tree.keeper.close();
  write(tree.root, 'edited', 'anew');
  unlinkSync(join(tree.root, 'removed'));
  await tree.reopen();
  expect(pathsOf(await tree.run(() => undefined))).toEqual([]);
  const { changes } = await tree.run(() => unlinkSync(join(tree.root, 'edited')));
  expect(changes).toMatchObject([{ path: 'edited', before: { hash: hashOf('anew') } }]);
  expect(before).toContain('"removed"');
});

test('answers a cancelled run nothing, and hands its changes to nobody', async () => {
  await using tree = await openTree();
  await tree.keeper.begin('run_a');
  await tree.keeper.cancel('run_a');
  write(tree.root, 'mine');
  const result = await tree.run(() => write(tree.root, 'theirs'));
  expect(result).toMatchObject({ changes: [{ path: 'theirs' }], concurrent: [] });
});

test('does not make a command wait for its first byte where the tree is watched', async () => {
  await using tree = await openTree((root) => write(root, 'file'));
  expect(tree.keeper.watching).toBe(true);
  expect(tree.keeper.begin('run_a')).toBeUndefined();
  await tree.keeper.end('run_a');
});

test('scans, and says so, where there are more folders than may be watched', async () => {
  const fill = (root: string) => {
    for (const folder of ['a', 'b']) write(root, `${folder}/file`);
  };
  await using at = await openTree(fill, { maxWatchedFolders: 3 });
  expect([at.keeper.watching, at.notices]).toEqual([true, []]);
  await using over = await openTree(fill, { maxWatchedFolders: 2 });
  expect([over.keeper.watching, over.notices.map(({ code }) => code)]).toEqual([false, ['watcher_off']]);
  expect(pathsOf(await over.run(() => write(over.root, 'b/file', 'x')))).toEqual(['b/file']);
});

test('watches a folder that was made in place of a removed one, whatever its inode', async () => {
  await using tree = await openTree((root) => write(root, 'a/b/old'));
  for (let round = 0; round < 10; round += 1) {
    await tree.run(() => {
      rmSync(join(tree.root, 'a'), { recursive: true });
      write(tree.root, 'a/b/new', `${round}`);
    });
    expect(pathsOf(await tree.run(() => write(tree.root, 'a/b/next', `${round}`)))).toEqual(['a/b/next']);
    renameSync(join(tree.root, 'a'), join(tree.root, 'c'));
    renameSync(join(tree.root, 'c'), join(tree.root, 'a'));
  }
});

test('goes on after the project folder was replaced by another of its name', async () => {
  await using tree = await openTree((root) => write(root, 'old'));
  const replaced = await tree.run(() => {
    rmSync(tree.root, { recursive: true });
    write(tree.root, 'new');
  });
  expect(pathsOf(replaced)).toEqual(['new', 'old']);
  expect(pathsOf(await tree.run(() => write(tree.root, 'newer')))).toEqual(['newer']);
});
