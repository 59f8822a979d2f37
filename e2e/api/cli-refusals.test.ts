import { chmod, chown, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { tempFolder } from '../../daemon/lib/testing/temp-folder.ts';
import { buildOnce, finish, serveDaemon } from './served-daemon.ts';

const nobody = 65_534;
const asRoot = process.getuid?.() === 0;

beforeAll(buildOnce);

describe('a data folder that can’t be used', () => {
  test('is told of in a line where it is a file, or below one', async () => {
    await using folder = await tempFolder();
    const file = join(folder.path, 'file');
    await writeFile(file, 'mine');
    for (const path of [file, join(file, 'below')]) {
      const { status, stdout, stderr } = await finish(['serve', '--json', '--port', '0', '--data-dir', path]);
      expect([status, stdout]).toEqual([1, '']);
      expect(stderr).toMatch(/^tallystick: the data folder .* can't be used: .*\n$/);
    }
    expect(await readFile(file, 'utf8')).toBe('mine');
  });

  test('is told of in a line where its lock can’t be read', async () => {
    await using folder = await tempFolder();
    await writeFile(join(folder.path, 'daemon.lock'), 'no lock at all');
    const { status, stderr } = await finish(['serve', '--json', '--port', '0', '--data-dir', folder.path]);
    expect(status).toBe(1);
    expect(stderr).toContain('delete that file');
    expect(stderr).not.toContain('    at ');
  });

  test('is told of in a line where it may not be written', async ({ skip }) => {
    if (!asRoot) skip('needs root, to run the daemon as another user');
    await using folder = await tempFolder();
    await chmod(folder.path, 0o755);
    const dataDir = join(folder.path, 'data');
    await mkdir(dataDir, { mode: 0o755 });
    for (const path of [dataDir, join(folder.path, 'new')]) {
      const args = ['serve', '--json', '--port', '0', '--data-dir', path];
      const { status, stdout, stderr } = await finish(args, { uid: nobody, cwd: '/' });
      expect([status, stdout]).toEqual([1, '']);
      expect(stderr).toMatch(/^tallystick: the data folder .* can't be used: EACCES.*\n$/);
    }
  });

  test('is not blamed where it is the port that may not be used', async ({ skip }) => {
    if (!asRoot) skip('needs root, to run the daemon as another user');
    const from = Number(
      await readFile('/proc/sys/net/ipv4/ip_unprivileged_port_start', 'utf8').catch(() => '0'),
    );
    if (from < 200) skip('every user may listen on every port here');
    await using folder = await tempFolder();
    await chown(folder.path, nobody, nobody);
    const args = ['serve', '--json', '--port', '199', '--data-dir', join(folder.path, 'data')];
    const { status, stderr } = await finish(args, { uid: nobody, cwd: '/' });
    expect([status, stderr.trim()]).toEqual([
      1,
      expect.stringMatching(/^tallystick: port 199 can't be listened on/),
    ]);
  });
});

describe('a daemon of an ordinary user', () => {
  test('refuses folders that it may not read or enter, with project_path_unreadable', async ({ skip }) => {
    if (!asRoot) skip('needs root, to run the daemon as another user');
    await using folder = await tempFolder();
    await chown(folder.path, nobody, nobody);
    const env = { HOME: join(folder.path, 'home') };
    await using served = await serveDaemon(join(folder.path, 'data'), { uid: nobody, cwd: '/', env });
    for (const mode of [0o000, 0o700, 0o711, 0o744]) {
      const path = join(folder.path, `mode-${mode.toString(8)}`);
      await mkdir(path, { mode });
      await chmod(path, mode);
      const refused = await served.panel.problem('POST', '/api/project/load', { path });
      expect([mode.toString(8), refused.httpStatus, refused.code]).toEqual([
        mode.toString(8),
        422,
        'project_path_unreadable',
      ]);
      expect(refused.detail).not.toContain('    at ');
    }
    const below = join(folder.path, 'mode-700/below');
    await mkdir(below);
    expect((await served.panel.problem('POST', '/api/project/load', { path: below })).code).toBe(
      'project_path_unreadable',
    );
    expect((await served.panel.problem('POST', '/api/project/load', { path: '/root' })).code).toMatch(
      /^project_path_/,
    );
    const readable = join(folder.path, 'readable');
    await mkdir(readable, { mode: 0o755 });
    expect((await served.panel.send('POST', '/api/project/load', { path: readable })).status).toBe(200);
  });
});
