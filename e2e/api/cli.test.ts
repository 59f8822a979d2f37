import { once } from 'node:events';
import { mkdir, readdir, stat, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import type { DaemonStatus } from '../../daemon/contract/daemon.ts';
import { tempFolder } from '../../daemon/lib/testing/temp-folder.ts';
import { client, collectFrames, readFrames, withoutReceipt } from '../../daemon/testing/client.ts';
import { isRunning, until } from '../../daemon/testing/processes.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { buildOnce, finish, RunningCommand, serveDaemon } from './served-daemon.ts';

beforeAll(buildOnce);

describe('tallystick', () => {
  test('tells its version and its usage', async () => {
    for (const flag of ['--version', '-v'])
      expect(await finish([flag])).toEqual({ status: 0, stdout: `${packageJson.version}\n`, stderr: '' });
    for (const args of [['--help'], ['-h'], ['help'], ['serve', '--help'], ['status', '-h']]) {
      const { status, stdout, stderr } = await finish(args);
      expect([args, status, stderr]).toEqual([args, 0, '']);
      expect(stdout).toContain('Usage: tallystick <command>');
    }
  });

  test.for([
    ['no command at all', []],
    ['a command that is none', ['frob']],
    ['a flag in the command’s place', ['--json', 'serve']],
    ['an unknown flag', ['serve', '--frob']],
    ['a port that is none', ['serve', '--port', '70000']],
    ['an environment that is none', ['serve', '--env', 'prod']],
    ['an empty data folder', ['serve', '--data-dir', '']],
    ['an argument too many', ['serve', 'here']],
    ['an unknown flag of status', ['status', '--frob']],
    ['an empty data folder of status', ['status', '--data-dir=']],
  ] as const)('ends with status 2 and a line on standard error for %s', async ([, args]) => {
    const { status, stdout, stderr } = await finish(args);
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).not.toContain('    at ');
    expect(stderr.length).toBeGreaterThan(20);
  });
});

describe('tallystick serve', () => {
  test('prints exactly one line of JSON with exactly the promised members, and logs to standard error', async () => {
    await using folder = await tempFolder();
    const dataDir = join(folder.path, 'data');
    await using served = await serveDaemon(dataDir);
    const { process: running, listening } = served;
    expect(Object.keys(JSON.parse(running.stdout)).sort()).toEqual(
      ['data_dir', 'event', 'login_token', 'pid', 'url', 'version'].sort(),
    );
    expect(listening).toEqual({
      event: 'listening',
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      pid: running.child.pid,
      data_dir: dataDir,
      login_token: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
      version: packageJson.version,
    });
    running.child.kill('SIGTERM');
    const { status, stdout, stderr } = await running.finished;
    expect([status, stdout.split('\n').length]).toEqual([0, 2]);
    expect(stderr).toContain('"listening"');
    expect(stderr).not.toContain(listening.login_token);
  });

  test('without --json prints a link that signs in once', async () => {
    await using folder = await tempFolder();
    await using running = new RunningCommand([
      'serve',
      '--port',
      '0',
      '--data-dir',
      join(folder.path, 'data'),
    ]);
    await until('the link is printed', () => running.stdout.includes('#token='));
    const [, url = '', token] =
      /(http:\/\/127\.0\.0\.1:\d+)\/#token=([A-Za-z0-9_-]+)/.exec(running.stdout) ?? [];
    expect((await client(url).send('POST', '/api/session', { token })).status).toBe(201);
    expect((await client(url).send('POST', '/api/session', { token })).status).toBe(401);
  });

  test('serves the documentation of its interface, with every file that the page loads', async () => {
    await using folder = await tempFolder();
    await using served = await serveDaemon(join(folder.path, 'data'));
    const { url } = served.listening;
    expect((await client(url).send('GET', '/docs')).headers.get('location')).toBe('/docs/');
    const page = await fetch(`${url}/docs/`);
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(page.headers.get('content-security-policy')).toContain("default-src 'self'");
    const files = [...(await page.text()).matchAll(/(?:src|href)="(\.[^"]+)"/g)].map(
      (match) => match[1] ?? '',
    );
    expect(files.length).toBeGreaterThan(2);
    for (const file of files) {
      const answer = await fetch(new URL(file, `${url}/docs/`));
      expect([file, answer.status, (await answer.arrayBuffer()).byteLength > 20]).toEqual([file, 200, true]);
    }
    expect((await fetch(`${url}/openapi.json`)).status).toBe(200);
  });

  test('lets one daemon have a data folder: a second ends with status 1 and says who holds it', async () => {
    await using folder = await tempFolder();
    const dataDir = join(folder.path, 'data');
    await symlink('data', join(folder.path, 'link'));
    await using served = await serveDaemon(dataDir);
    for (const path of [dataDir, join(folder.path, 'link'), `${dataDir}/`]) {
      const { status, stdout, stderr } = await finish(['serve', '--json', '--port', '0', '--data-dir', path]);
      expect([status, stdout]).toEqual([1, '']);
      expect(stderr).toContain(`process ${served.listening.pid}`);
      expect(stderr).toContain(served.listening.url);
      expect(stderr).not.toContain('    at ');
    }
    expect((await served.panel.send('GET', '/api/session')).status).toBe(200);
  });

  test('takes over the data folder of a daemon that was killed', async () => {
    await using folder = await tempFolder();
    const dataDir = join(folder.path, 'data');
    {
      await using killed = await serveDaemon(dataDir);
      killed.process.child.kill('SIGKILL');
      await killed.process.finished;
    }
    await using served = await serveDaemon(dataDir);
    expect((await served.panel.send('GET', '/api/session')).status).toBe(200);
  });

  test('ends with status 1 and a clear line where the port is taken, and leaves the data folder free', async () => {
    await using folder = await tempFolder();
    const dataDir = join(folder.path, 'data');
    const squatter = createServer().listen({ host: '127.0.0.1', port: 0 });
    await once(squatter, 'listening');
    const address = squatter.address();
    const port = String(typeof address === 'object' ? address?.port : 0);
    const { status, stdout, stderr } = await finish([
      'serve',
      '--json',
      '--port',
      port,
      '--data-dir',
      dataDir,
    ]);
    squatter.close();
    expect([status, stdout]).toEqual([1, '']);
    expect(stderr).toContain(`tallystick: port ${port} is in use by another program`);
    expect(stderr).not.toContain('    at ');
    await using served = await serveDaemon(dataDir, { args: ['--port', port] });
    expect(served.listening.url).toBe(`http://127.0.0.1:${port}`);
  });

  test.for(['SIGTERM', 'SIGINT'] as const)(
    'ends within five seconds of %s, its commands first, and leaves nothing behind',
    async (signal) => {
      await using folder = await tempFolder();
      const dataDir = join(folder.path, 'data');
      await using served = await serveDaemon(dataDir);
      await served.panel.json('POST', '/api/project/load', { path: await project(folder.path) });
      const stubborn = await served.panel.send('POST', '/api/shell/run', {
        cmd: `trap '' TERM; setsid sh -c "trap '' TERM; echo child $$; while :; do sleep 1; done" & echo main $$; while :; do sleep 1; done`,
      });
      const plain = await served.panel.send('POST', '/api/shell/run', { cmd: 'exec sleep 1000' });
      const frames = readFrames(stubborn);
      const lines = [(await frames.next()).value, (await frames.next()).value].map((frame) =>
        frame !== undefined && 'line' in frame ? frame.line : '',
      );
      const pids = lines.map((line) => Number(/\d+$/.exec(line)?.[0]));
      expect(pids.every(isRunning)).toBe(true);
      const events = await served.panel.send('GET', '/api/events');
      const began = performance.now();
      served.process.child.kill(signal);
      // A second one does not break off what the first has begun.
      served.process.child.kill(signal);
      expect((await served.process.finished).status).toBe(0);
      expect(performance.now() - began).toBeLessThan(5000);
      expect(pids.filter(isRunning)).toEqual([]);
      expect(withoutReceipt((await collectFrames(plain)).at(-1))).toEqual({
        type: 'exit',
        code: 143,
        signal: 'SIGTERM',
        reason: 'shutdown',
      });
      await events.text().catch(() => undefined);
      expect((await readdir(dataDir)).filter((name) => /lock|^\./.test(name))).toEqual([]);
      // The next one finds nothing to sweep.
      await using next = await serveDaemon(dataDir);
      expect((await next.panel.json<DaemonStatus>('GET', '/api/status')).notices).toEqual([]);
    },
  );

  test('goes on when nobody reads its output any more', async () => {
    await using folder = await tempFolder();
    await using served = await serveDaemon(join(folder.path, 'data'), { env: { TALLYSTICK_LOG: 'debug' } });
    served.process.child.stdout.destroy();
    served.process.child.stderr.destroy();
    for (let count = 0; count < 20; count += 1)
      expect((await served.panel.send('GET', '/nothing')).status).toBe(404);
    expect((await served.panel.send('GET', '/healthz')).status).toBe(200);
  });

  test('sets a broken state file aside, says so, and works', async () => {
    await using folder = await tempFolder();
    const dataDir = join(folder.path, 'data');
    await mkdir(dataDir);
    await writeFile(join(dataDir, 'state.json'), '{"version":1,');
    await using served = await serveDaemon(dataDir);
    const { notices } = await served.panel.json<DaemonStatus>('GET', '/api/status');
    expect(notices).toEqual([expect.stringContaining('state.json.broken-')]);
    await until('it is logged', () => served.process.stderr.includes('state.json.broken-'));
    await served.panel.json('POST', '/api/project/load', { path: await project(folder.path) });
    expect(withoutReceipt((await served.panel.run({ cmd: 'true' })).frames)).toEqual([
      { type: 'exit', code: 0 },
    ]);
  });

  test('takes keys of its own environment alone', async () => {
    await using folder = await tempFolder();
    await using served = await serveDaemon(join(folder.path, 'data'), { args: ['--env', 'test'] });
    const created = await served.panel.json<{ key: string }>('POST', '/api/account/api-keys', {
      name: 'x',
      scopes: 'read',
      expiry: '1d',
    });
    expect(created.key).toMatch(/^tly_test_/);
  });

  test('keeps its data folder, its state and its logs for its user alone', async () => {
    await using folder = await tempFolder();
    const dataDir = join(folder.path, 'data');
    await using served = await serveDaemon(dataDir);
    await served.panel.send('GET', '/api/session');
    const entries = await readdir(dataDir, { recursive: true });
    for (const name of ['', ...entries]) {
      const stats = await stat(join(dataDir, name));
      expect([name, (stats.mode & 0o077).toString(8)]).toEqual([name, '0']);
    }
  });
});

describe('tallystick status', () => {
  test('tells with status 0 of a daemon that runs, and with 3 of none', async () => {
    await using folder = await tempFolder();
    const dataDir = join(folder.path, 'data');
    const args = ['status', '--data-dir', dataDir];
    const none = {
      status: 3,
      stdout: `${JSON.stringify({ running: false, data_dir: dataDir })}\n`,
      stderr: '',
    };
    expect(await finish([...args, '--json'])).toEqual(none);
    expect((await finish(args)).stdout).toContain('No daemon runs');
    {
      await using served = await serveDaemon(dataDir);
      const { status, stdout } = await finish([...args, '--json']);
      expect([status, JSON.parse(stdout)]).toEqual([
        0,
        {
          running: true,
          answers: true,
          pid: served.listening.pid,
          url: served.listening.url,
          version: packageJson.version,
          data_dir: dataDir,
        },
      ]);
      const told = await finish(args);
      expect([told.status, told.stdout]).toEqual([0, expect.stringContaining(served.listening.url)]);
      // One that is stopped holds the folder but does not answer.
      served.process.child.kill('SIGSTOP');
      expect(JSON.parse((await finish([...args, '--json'])).stdout)).toMatchObject({
        running: true,
        answers: false,
      });
      served.process.child.kill('SIGCONT');
    }
    expect(await finish([...args, '--json'])).toEqual(none);
  });
});

async function project(base: string): Promise<string> {
  const path = join(base, 'project');
  await mkdir(path, { recursive: true });
  return path;
}
