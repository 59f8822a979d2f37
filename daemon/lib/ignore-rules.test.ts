import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { toBytePath } from './byte-path.ts';
import { IgnoreRules } from './ignore-rules.ts';
import { tempFolder } from './testing/temp-folder.ts';

/** A repository with these files, in a home of its own; paths that end with `/` are folders. */
async function repository(files: Record<string, string>, paths: readonly string[]) {
  const temp = await tempFolder();
  const root = join(temp.path, 'project');
  const environment = { PATH: process.env.PATH, HOME: join(temp.path, 'home'), GIT_CONFIG_NOSYSTEM: '1' };
  mkdirSync(environment.HOME);
  execFileSync('git', ['init', '-q', root], { env: environment });
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
  for (const path of paths) {
    mkdirSync(path.endsWith('/') ? join(root, path) : dirname(join(root, path)), { recursive: true });
    if (!path.endsWith('/')) writeFileSync(join(root, path), '');
  }
  return { root, environment, [Symbol.asyncDispose]: () => temp[Symbol.asyncDispose]() };
}

type Repository = Awaited<ReturnType<typeof repository>>;

/** What git itself says: the checker that is not ours. */
function ignoredByGit({ root, environment }: Repository, paths: readonly string[]): string[] {
  const { stdout, stderr } = spawnSync('git', ['check-ignore', '--no-index', '-z', '--stdin'], {
    cwd: root,
    env: environment,
    input: paths.join('\0'),
  });
  expect(stderr.toString()).toBe('');
  return stdout.toString().split('\0').filter(Boolean);
}

function ignoredByUs({ root, environment }: Repository, paths: readonly string[]): string[] {
  const rules = new IgnoreRules(root, { environment });
  return paths.filter((path) => rules.ignores(toBytePath(path.replace(/\/$/, '')), path.endsWith('/')));
}

const cases: Record<string, { files: Record<string, string>; paths: string[]; ignored: string[] }> = {
  'patterns with and without slashes': {
    files: { '.gitignore': 'any\n/top\nsub/inner\n*.o\nfolder/\n' },
    paths: [
      'any',
      'deep/any',
      'top',
      'deep/top',
      'sub/inner',
      'deep/sub/inner',
      'a.o',
      'x/folder/f',
      'y/folder',
    ],
    ignored: ['any', 'deep/any', 'top', 'sub/inner', 'a.o', 'x/folder/f'],
  },
  'negation, but not inside an ignored folder': {
    files: { '.gitignore': '*.log\n!keep.log\nout/\n!out/keep.txt\n' },
    paths: ['a.log', 'keep.log', 'x/keep.log', 'out/keep.txt'],
    ignored: ['a.log', 'out/keep.txt'],
  },
  'rules of a folder below, which count before those above': {
    files: {
      '.gitignore': '*.log\nlocal\n',
      'sub/.gitignore': '!kept.log\n/own\n',
      'sub/deep/.gitignore': '*.log\n',
    },
    paths: [
      'sub/kept.log',
      'sub/other.log',
      'sub/own',
      'own',
      'sub/deep/kept.log',
      'sub/deep/own',
      'sub/x/local',
    ],
    ignored: ['sub/other.log', 'sub/own', 'sub/deep/kept.log', 'sub/x/local'],
  },
  'a folder that a file further down takes back': {
    files: { '.gitignore': 'sub/kept/\n', 'sub/.gitignore': '!kept/\n' },
    paths: ['sub/kept/file', 'sub/kept/below/file', 'sub/kept/'],
    ignored: [],
  },
  'globstars, classes, escapes and odd names': {
    files: { '.gitignore': 'a/**/z\n**/gen\nlib[0-9]\n\\#note\n\\!bang\n*.tmp \nwith\\ space\né?\n' },
    paths: ['a/z', 'a/b/c/z', 'x/gen/f', 'lib1', 'libx', '#note', '!bang', 'a.tmp', 'with space', 'éa', 'éé'],
    ignored: ['a/z', 'a/b/c/z', 'x/gen/f', 'lib1', '#note', '!bang', 'a.tmp', 'with space', 'éa'],
  },
  'a byte order mark and carriage returns': {
    files: { '.gitignore': '\uFEFFfirst\r\nsecond\r\n' },
    paths: ['first', 'second', 'third'],
    ignored: ['first', 'second'],
  },
};

describe('is of one mind with git about', () => {
  test.each(Object.entries(cases))('%s', async (_, { files, paths, ignored }) => {
    await using project = await repository(files, paths);
    expect(ignoredByGit(project, paths)).toEqual(ignored);
    expect(ignoredByUs(project, paths)).toEqual(ignored);
  });

  test('.git/info/exclude, and that a .gitignore counts before it', async () => {
    const paths = ['private', 'public', 'x/private'];
    await using project = await repository({ '.gitignore': '!public\n' }, paths);
    writeFileSync(join(project.root, '.git/info/exclude'), 'private\npublic\n');
    expect(ignoredByGit(project, paths)).toEqual(['private', 'x/private']);
    expect(ignoredByUs(project, paths)).toEqual(['private', 'x/private']);
  });

  test.each([
    ['the default file', '.config/git/ignore', ''],
    ['core.excludesFile with ~', 'mine', '[core]\n\texcludesFile = ~/mine\n'],
    [
      'core.excludesFile in quotes, after another section',
      'my file',
      '[user]\n\tname = x\n[core]\n excludesfile = "~/my file" ; note\n',
    ],
  ])('global excludes: %s', async (_, file, config) => {
    const paths = ['a.swp', 'a.txt'];
    await using project = await repository({}, paths);
    mkdirSync(dirname(join(project.environment.HOME, file)), { recursive: true });
    writeFileSync(join(project.environment.HOME, file), '*.swp\n');
    if (config !== '') writeFileSync(join(project.environment.HOME, '.gitconfig'), config);
    expect(ignoredByGit(project, paths)).toEqual(['a.swp']);
    expect(ignoredByUs(project, paths)).toEqual(['a.swp']);
  });

  test('the excludes of a worktree, which are those of its repository', async () => {
    await using project = await repository({}, []);
    const { root, environment } = project;
    const git = (...args: string[]) =>
      execFileSync('git', ['-C', root, ...args], { env: environment, stdio: 'pipe' });
    git('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-q', '--allow-empty', '-m', 'x');
    git('worktree', 'add', '-q', join(root, '../tree'));
    writeFileSync(join(root, '.git/info/exclude'), 'private\n');
    const tree = { ...project, root: join(root, '../tree') };
    expect(ignoredByGit(tree, ['private', 'public'])).toEqual(['private']);
    expect(ignoredByUs(tree, ['private', 'public'])).toEqual(['private']);
  });

  test('a link in place of a .gitignore, which is not followed', async () => {
    await using project = await repository({ rules: '*\n' }, ['file']);
    symlinkSync('rules', join(project.root, '.gitignore'));
    expect(ignoredByUs(project, ['file'])).toEqual([]);
  });

  test('2,000 random paths under random rules', async () => {
    const random = randomFrom(7);
    const name = () => pick(random, ['a', 'b', 'ab', 'c.o', 'd.log', 'lib', 'x y', 'B']);
    const path = () => Array.from({ length: 1 + Math.floor(random() * 4) }, name).join('/');
    const pattern = () =>
      pick(random, ['', '', '!']) +
      pick(random, ['', '/', '**/', 'a/']) +
      pick(random, ['a', 'b*', '*.o', '?b', '[a-c]', '**', 'lib', 'x\\ y', 'a/b', '*']) +
      pick(random, ['', '', '/', '/**', '/*']);
    for (let round = 0; round < 20; round += 1) {
      const files: Record<string, string> = {};
      for (const folder of ['', 'a/', 'b/', 'a/b/', 'lib/'])
        if (random() < 0.6) files[`${folder}.gitignore`] = Array.from({ length: 3 }, pattern).join('\n');
      const tried = new Set(Array.from({ length: 100 }, path));
      // A path can't be a file and a folder.
      const all = [...tried].filter((one) => ![...tried].some((other) => other.startsWith(`${one}/`)));
      const plain = all.filter((one) => !['a', 'b', 'a/b', 'lib'].includes(one));
      await using project = await repository(files, plain);
      const rules = JSON.stringify(files);
      expect({ rules, ignored: ignoredByUs(project, plain) }).toEqual({
        rules,
        ignored: ignoredByGit(project, plain),
      });
    }
  });
});

test('needs no repository', async () => {
  await using project = await repository({ '.gitignore': '*.log\n' }, ['a.log']);
  rmSync(join(project.root, '.git'), { recursive: true });
  expect(ignoredByUs(project, ['a.log', 'a.txt'])).toEqual(['a.log']);
});

test('tells that a rule file outside of the project folders is another now', async () => {
  await using project = await repository({}, []);
  const rules = new IgnoreRules(project.root, { environment: project.environment });
  expect(rules.changedOutside()).toBe(false);
  writeFileSync(join(project.root, '.git/info/exclude'), '*.swp\n# longer than before, whatever that was\n');
  expect(rules.changedOutside()).toBe(true);
  const again = new IgnoreRules(project.root, { environment: project.environment });
  writeFileSync(join(project.environment.HOME, '.gitconfig'), '[core]\n\texcludesFile = ~/mine\n');
  expect(again.changedOutside()).toBe(true);
});

test('forgets nothing over more paths than the matcher remembers', async () => {
  await using project = await repository({ '.gitignore': '*.log\n' }, []);
  const rules = new IgnoreRules(project.root, { environment: project.environment });
  for (let at = 0; at < 45_000; at += 1) expect(rules.ignores(`${at}.log`, false)).toBe(true);
});

function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

function pick<Item>(random: () => number, items: readonly Item[]): Item {
  const item = items[Math.floor(random() * items.length)];
  if (item === undefined) throw new Error('nothing to pick from');
  return item;
}
