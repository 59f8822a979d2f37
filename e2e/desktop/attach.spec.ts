import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { hasSession, readLock, signedIn } from './driver/panel-client.ts';
import { isAlive } from './driver/processes.ts';
import { answerNext, clickTray, recorded } from './driver/recorded.ts';
import { test as base, expect, type Machine } from './driver/test.ts';

type Serve = { child: ChildProcess; url: string; login_token: string };

const test = base.extend<{ serve: Serve }>({
  serve: async ({ machine }, use) => {
    const child = spawn(
      process.execPath,
      [join(machine.root, 'dist', 'daemon', 'tallystick.js'), 'serve', '--json'],
      {
        env: machine.env,
        stdio: ['ignore', 'pipe', 'ignore'],
      },
    );
    const [line] = await once(createInterface(child.stdout), 'line');
    await use({ child, ...JSON.parse(line) });
    if (child.exitCode === null) {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
  },
});

test('attaches to a daemon that a terminal started, and leaves it running when it quits', async ({
  machine,
  serve,
}) => {
  const app = await machine.start();
  const page = await app.page();
  expect(new URL(page.url()).origin).toBe(serve.url);
  expect(await hasSession(page)).toBe(false);
  expect(await page.evaluate(() => window.tallystick.requestLoginToken())).toBeNull();
  expect((await recorded(app)).toolTips.at(-1)).toContain('attached');

  // The token from the terminal signs in, as it does in a browser.
  await page.goto(`${serve.url}/?terminal#token=${serve.login_token}`);
  await expect.poll(() => hasSession(page)).toBe(true);

  await clickTray(app, 'Open in browser');
  await expect.poll(async () => (await recorded(app)).opened).toEqual([`${serve.url}/`]);
  await clickTray(app, 'Quit Tallystick');
  expect(await app.ended).toEqual({ code: 0, signal: null });
  expect(serve.child.exitCode).toBeNull();
});

test('starts its own daemon when the one it is attached to ends', async ({ machine, serve }) => {
  const app = await machine.start();
  const page = await app.page();
  expect(new URL(page.url()).origin).toBe(serve.url);
  serve.child.kill('SIGTERM');
  await expect.poll(() => hasSession(page), { timeout: 30_000 }).toBe(true);
  expect(isAlive(readLock(machine.dataDir).pid)).toBe(true);
});

test('opens the panel of its own daemon in the browser with a token of its own', async ({ machine }) => {
  const app = await machine.start();
  const page = await signedIn(app);
  await clickTray(app, 'Open in browser');
  await expect.poll(async () => (await recorded(app)).opened.length).toBe(1);
  const url = new URL((await recorded(app)).opened[0] ?? '');
  expect(url.origin).toBe(new URL(page.url()).origin);
  const body = JSON.stringify({ token: url.hash.replace('#token=', '') });
  const headers = { 'content-type': 'application/json' };
  expect((await fetch(`${url.origin}/api/session`, { method: 'POST', headers, body })).status).toBe(201);
});

test('a foreign server on the address in the lock is refused, though it answers like a daemon', async ({
  machine,
}) => {
  await using foreign = await impostor(manifestVersion(machine));
  // The process the lock names is alive and its start time is right, but it is not the one that listens.
  const holder = spawn('sleep', ['1000'], { stdio: 'ignore' });
  try {
    writeLock(machine, { pid: holder.pid ?? 0, url: foreign.url, version: manifestVersion(machine) });
    const app = await machine.start();
    const page = await app.page();
    await expect(page.locator('#reason')).toContainText('belongs to another process');
    expect(foreign.seen).toEqual([]);
  } finally {
    holder.kill('SIGKILL');
  }
});

test('an address that is not this machine is refused', async ({ machine }) => {
  const holder = spawn('sleep', ['1000'], { stdio: 'ignore' });
  try {
    writeLock(machine, {
      pid: holder.pid ?? 0,
      url: 'http://192.0.2.1:4774',
      version: manifestVersion(machine),
    });
    const app = await machine.start();
    await expect((await app.page()).locator('#reason')).toContainText('not this machine');
  } finally {
    holder.kill('SIGKILL');
  }
});

test('a holder that answers as something else is refused', async ({ machine }) => {
  await using foreign = await impostor('9.9.9');
  writeLock(machine, { pid: process.pid, url: foreign.url, version: manifestVersion(machine) });
  const app = await machine.start();
  await expect((await app.page()).locator('#reason')).toContainText('is not the Tallystick');
});

test('a daemon of another version is attached to, and the versions are told', async ({ machine }) => {
  await using foreign = await impostor('9.9.9');
  writeLock(machine, { pid: process.pid, url: foreign.url, version: '9.9.9' });
  const app = await machine.start();
  await answerNext(app, 0);
  expect(new URL((await app.page()).url()).origin).toBe(foreign.url);
  await expect
    .poll(async () => (await recorded(app)).asked.map(({ message }) => message))
    .toEqual([`The running daemon is Tallystick 9.9.9, this app is ${manifestVersion(machine)}.`]);
});

function manifestVersion({ root }: Machine): string {
  return JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version;
}

function writeLock({ dataDir }: Machine, lock: { pid: number; url: string; version: string }): void {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const started = processStart(lock.pid);
  writeFileSync(join(dataDir, 'daemon.lock'), JSON.stringify({ ...lock, process_started_at: started }));
}

/** Boot id and start in clock ticks, field 22 of proc(5)'s stat. */
function processStart(pid: number): string {
  const afterName = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()}:${afterName[19]}`;
}

/** A server of this process that says it is a daemon of some version. */
async function impostor(version: string) {
  const seen: string[] = [];
  const server: Server = createServer((request, response) => {
    seen.push(request.url ?? '');
    response.setHeader('Tallystick-Version', version);
    if (request.url !== '/healthz') return response.end('<title>impostor</title>');
    response.setHeader('content-type', 'application/json');
    return response.end(JSON.stringify({ status: 'ok', version }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    seen,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
