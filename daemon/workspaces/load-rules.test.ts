import { execFileSync } from 'node:child_process';
import { accessSync, constants, existsSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, relative } from 'node:path';
import { describe, expect, test } from 'vitest';
import { tempFolder } from '../lib/testing/temp-folder.ts';
import { checkLoadable } from './load-rules.ts';

/** A base with a home, a data folder and a project, and the rules that know them. */
async function scene() {
  const folder = await tempFolder();
  const base = realpathSync(folder.path);
  const [homeDir, dataDir, project] = ['home/me', 'data', 'home/me/project'].map((name) => join(base, name));
  for (const path of [homeDir, dataDir, project]) await mkdir(path ?? '', { recursive: true });
  const rules = { homeDir: homeDir ?? '', dataDir: dataDir ?? '' };
  const refusal = async (path: string) => {
    try {
      const loaded = await checkLoadable(path, rules);
      return `loaded ${loaded.path}`;
    } catch (error) {
      const { code, members } = error as { code: string; members: { reason?: string } };
      return members?.reason === undefined ? code : `${code} ${members.reason}`;
    }
  };
  return {
    base,
    ...rules,
    project: project ?? '',
    refusal,
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

describe('a path', () => {
  test('to a folder is loaded under its real path, however it is spelled', async () => {
    await using at = await scene();
    await symlink(at.project, join(at.base, 'link'));
    for (const path of [
      at.project,
      `${at.project}/`,
      `${at.project}//.`,
      `${at.project}/../project`,
      `${at.base}/home/../home/me/./project/`,
      join(at.base, 'link'),
      `${join(at.base, 'link')}/`,
    ])
      expect([path, await at.refusal(path)]).toEqual([path, `loaded ${at.project}`]);
  });

  test('with any character that a name may have is loaded', async () => {
    await using at = await scene();
    for (const name of [
      'with space',
      'ünïcödé',
      '-rf',
      '$(touch x)',
      'new\nline',
      "quo'te",
      'a'.repeat(255),
      '日本',
    ]) {
      const path = join(at.base, name);
      await mkdir(path);
      expect(await at.refusal(path)).toBe(`loaded ${path}`);
    }
  });

  test('that leads nowhere is project_path_missing', async () => {
    await using at = await scene();
    await writeFile(join(at.base, 'file'), '');
    await symlink('nowhere', join(at.base, 'dangling'));
    for (const path of ['missing', 'missing/deep', 'file/below', 'dangling'].map((name) =>
      join(at.base, name),
    ))
      expect([path, await at.refusal(path)]).toEqual([path, 'project_path_missing']);
  });

  test('to what is no folder is project_path_unreadable', async () => {
    await using at = await scene();
    await writeFile(join(at.base, 'file'), '');
    execFileSync('mkfifo', [join(at.base, 'fifo')]);
    await symlink('loop', join(at.base, 'loop'));
    expect(await at.refusal(join(at.base, 'file'))).toBe('project_path_unreadable not_a_folder');
    expect(await at.refusal(join(at.base, 'fifo'))).toBe('project_path_unreadable not_a_folder');
    expect(await at.refusal(join(at.base, 'loop'))).toBe('project_path_unreadable');
    expect(await at.refusal(join(at.base, 'x'.repeat(256)))).toBe('project_path_unreadable');
    expect(await at.refusal(`/${'x/'.repeat(2500)}`)).toBe('project_path_missing');
  });

  test('that is relative, or holds NUL, is an invalid request', async () => {
    await using at = await scene();
    for (const path of [
      '',
      '.',
      '..',
      'project',
      '~',
      '~/project',
      './x',
      relative(process.cwd(), at.project),
    ])
      expect([path, await at.refusal(path)]).toEqual([path, 'invalid_request']);
    expect(await at.refusal(`${at.project}\0`)).toBe('invalid_request');
    expect(await at.refusal(`/etc\0${at.project}`)).toBe('invalid_request');
  });

  test('to a folder that may not be read or entered is project_path_unreadable', async ({ skip }) => {
    if (process.getuid?.() === 0)
      skip('root may read everything; e2e/api/cli-refusals.test.ts has it as another user');
    await using at = await scene();
    for (const mode of [0o000, 0o300, 0o400]) {
      await chmod(at.project, mode);
      expect(await at.refusal(at.project)).toBe('project_path_unreadable');
    }
    await chmod(at.project, 0o700);
  });
});

describe('folders of the operating system', () => {
  /** What a Linux system may have at its root; nobody can say that a project may not live in what else is there. */
  const usual =
    'bin boot dev efi etc home lib lib32 lib64 libx32 lost+found media mnt nix opt proc root run sbin snap srv sys tmp usr var'.split(
      ' ',
    );

  test('are refused, whichever is at the root here, and the root itself', async () => {
    await using at = await scene();
    for (const root of ['/', '//', '/.', '/etc/..'])
      expect(await at.refusal(root)).toContain('project_path_system');
    await expect(checkLoadable('/', { dataDir: '/no/where', homeDir: '/no/where' })).rejects.toMatchObject({
      members: { reason: 'system_folder' },
    });
    const found = readdirSync('/')
      .map((name) => `/${name}`)
      .filter((path) => usual.includes(path.slice(1)) && isFolder(path));
    expect(found.length).toBeGreaterThan(10);
    for (const path of found)
      expect([path, await at.refusal(path)]).toEqual([path, expect.stringContaining('project_path_system')]);
  });

  test('are refused with all that is in them, but for the places where projects live', async () => {
    await using at = await scene();
    for (const tree of ['/etc', '/usr', '/var', '/proc/self', '/sys', '/dev', '/boot', '/lib']) {
      if (!isFolder(tree)) continue;
      for (const name of readdirSync(tree)) {
        const path = join(tree, name);
        if (!isFolder(path) || isOutside(realpathSync(path))) continue;
        expect([path, await at.refusal(path)]).toEqual([path, 'project_path_system system_folder']);
      }
    }
  });

  test('are refused deep in them, and where programs are installed', async () => {
    await using at = await scene();
    for (const path of [
      '/usr/lib/ssl',
      '/usr/share/doc',
      '/usr/local/bin',
      '/usr/local/lib',
      '/usr/local/share',
      '/usr/local/sbin',
      '/usr/local/etc',
      '/var/lib/dpkg/info',
      '/etc/ssl/certs',
      '/proc/1',
      '/sys/kernel',
    ].filter(isFolder))
      expect([path, await at.refusal(path)]).toEqual([path, 'project_path_system system_folder']);
  });

  test('are refused through a link, a chain of links, and a spelling with dots', async () => {
    await using at = await scene();
    await symlink('/etc', join(at.base, 'one'));
    await symlink('one', join(at.base, 'two'));
    await symlink(join(at.base, 'two'), join(at.base, 'three'));
    await symlink('/', join(at.base, 'root'));
    expect(await at.refusal(join(at.base, 'root'))).toContain('project_path_system');
    for (const path of [
      join(at.base, 'one'),
      join(at.base, 'three'),
      `${at.base}/root/etc`,
      `${at.base}/one/../etc`,
      '/etc/',
      '/etc/.',
      '/./etc',
      '/usr/../etc',
      '/tmp/../etc',
      '/proc/self/root/etc',
      '/proc/self/cwd/../../../../../../etc',
    ])
      expect([path, await at.refusal(path)]).toEqual([path, 'project_path_system system_folder']);
  });

  test('are refused through a bind mount, with what is below it', async ({ skip }) => {
    await using at = await scene();
    const mounted = join(at.base, 'bind');
    await mkdir(mounted);
    const missing = tryMount('/etc', mounted);
    if (missing !== undefined) {
      console.info(`skipped: ${missing}`);
      skip(missing);
    }
    try {
      expect(await at.refusal(mounted)).toBe('project_path_system system_folder');
      expect(await at.refusal(join(mounted, 'ssl'))).toBe('project_path_system system_folder');
    } finally {
      execFileSync('umount', [mounted]);
    }
  });

  test('do not include what is below the places where projects live, which are refused themselves', async () => {
    await using at = await scene();
    for (const place of [
      '/var/tmp',
      '/usr/src',
      '/usr/local/src',
      '/var/opt',
      '/var/local',
      '/tmp',
      '/opt',
      '/srv',
    ]) {
      if (!isFolder(place) || !isWritable(place)) continue;
      expect([place, await at.refusal(place)]).toEqual([
        place,
        expect.stringContaining('project_path_system'),
      ]);
      const inside = await mkdtemp(join(realpathSync(place), 'tallystick-test-'));
      try {
        expect(await at.refusal(inside)).toBe(`loaded ${inside}`);
      } finally {
        await rm(inside, { recursive: true });
      }
    }
  });

  function isOutside(real: string): boolean {
    const roots = ['/etc', '/usr', '/var', '/proc', '/sys', '/dev', '/boot', '/run', '/lib'];
    if (!roots.some((root) => real === root || real.startsWith(`${root}/`))) return true;
    // Below these, projects may live.
    return /^\/(run|var\/tmp|var\/www|usr\/src|usr\/local\/src|var\/opt|var\/local)\/./.test(real);
  }
});

describe('the home folder', () => {
  test('is refused itself and with what lies around it, but not what lies in it', async () => {
    await using at = await scene();
    await symlink(at.homeDir, join(at.base, 'to-home'));
    await symlink('/proc/self/cwd', join(at.base, 'odd'));
    for (const path of [
      at.homeDir,
      `${at.homeDir}/`,
      `${at.project}/..`,
      join(at.base, 'home'),
      at.base,
      join(at.base, 'to-home'),
    ])
      expect([path, await at.refusal(path)]).toEqual([path, 'project_path_system home_folder']);
    expect(await at.refusal(at.project)).toBe(`loaded ${at.project}`);
    expect(await at.refusal(join(at.base, 'to-home/project'))).toBe(`loaded ${at.project}`);
  });

  test('is refused where its own name is a link', async () => {
    await using at = await scene();
    await symlink(at.homeDir, join(at.base, 'to-home'));
    const rules = { dataDir: at.dataDir, homeDir: join(at.base, 'to-home') };
    await expect(checkLoadable(at.homeDir, rules)).rejects.toMatchObject({
      members: { reason: 'home_folder' },
    });
  });

  test('is the user’s, where nothing else is told', async () => {
    await using at = await scene();
    await expect(checkLoadable(homedir(), { dataDir: at.dataDir })).rejects.toMatchObject({
      code: 'project_path_system',
    });
  });
});

describe('the data folder', () => {
  test('is refused itself, around it and in it, by name and by link', async () => {
    await using at = await scene();
    const inside = join(at.dataDir, 'workspaces/app');
    await mkdir(inside, { recursive: true });
    await mkdir(join(at.project, 'nested/data'), { recursive: true });
    await symlink(inside, join(at.base, 'to-inside'));
    await symlink(at.dataDir, join(at.base, 'to-data'));
    for (const path of [
      at.dataDir,
      inside,
      join(at.base, 'to-inside'),
      join(at.base, 'to-data'),
      join(at.base, 'to-data/workspaces'),
    ])
      expect([path, await at.refusal(path)]).toEqual([path, 'project_path_system data_folder']);
    const around = { homeDir: at.homeDir, dataDir: join(at.project, 'nested/data') };
    for (const path of [at.project, join(at.project, 'nested')])
      await expect(checkLoadable(path, around)).rejects.toMatchObject({ members: { reason: 'data_folder' } });
  });

  test('is refused through a bind mount', async ({ skip }) => {
    await using at = await scene();
    const mounted = join(at.base, 'bind');
    await mkdir(mounted);
    const missing = tryMount(at.dataDir, mounted);
    if (missing !== undefined) skip(missing);
    try {
      expect(await at.refusal(mounted)).toBe('project_path_system data_folder');
    } finally {
      execFileSync('umount', [mounted]);
    }
  });
});

function isFolder(path: string): boolean {
  return existsSync(path) && statSync(path).isDirectory();
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    // As an ordinary user, /opt and the like can't be tried.
    return false;
  }
}

function tryMount(from: string, to: string): string | undefined {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'a bind mount needs root on Linux';
  try {
    execFileSync('mount', ['--bind', from, to], { stdio: 'pipe' });
    return undefined;
  } catch (error) {
    return `mounting is not allowed here: ${error instanceof Error ? error.message.trim() : error}`;
  }
}
