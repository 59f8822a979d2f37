import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Sshd, startSshd, whyNoSshd } from '../../testing/sshd.ts';
import { connectionsTo, failureOf, hostOf } from './testing/ssh-peers.ts';
import { startTcpServer } from './testing/tcp-proxy.ts';
import { maxGreetingBytes } from './watch-sign-in.ts';

const reason = whyNoSshd();
if (reason !== undefined) console.warn(`skipped: ${reason}`);

describe.skipIf(reason !== undefined)('connections that can not be made', () => {
  let sshd: Sshd;
  beforeAll(async () => {
    sshd = await startSshd();
  });
  afterAll(() => sshd[Symbol.asyncDispose]());

  const connections = (changes: Parameters<typeof hostOf>[1]) =>
    connectionsTo(mkdtempSync(join(sshd.folder, 'data-')), [hostOf(sshd, changes)]);

  it('fail for a port where nobody listens, with its name', async () => {
    await using pool = connections({ port: 1 });
    const error = await failureOf(pool.lease('box'));
    expect(error).toMatchObject({ code: 'ssh_connect_failed' });
    expect(error.message).toContain('box (127.0.0.1, port 1) can not be reached: ECONNREFUSED');
  });

  it('fail for a name that nobody knows', async () => {
    await using pool = connections({ hostname: 'no.such.host.invalid' });
    const error = await failureOf(pool.lease('box'));
    expect(error).toMatchObject({ code: 'ssh_connect_failed' });
    expect(error.message).toMatch(/ENOTFOUND|EAI_AGAIN/);
  });

  it('fail after ConnectTimeout where nobody takes the connection', async () => {
    // A full backlog: the kernel drops further attempts, as a firewall does.
    const server = await fullServer();
    await using pool = connections({ port: server.port, connectTimeoutMs: 300 });
    expect(await failureOf(pool.lease('box'))).toMatchObject({ code: 'ssh_timeout' });
    server.close();
  });

  it.each([
    ['says nothing', () => {}],
    [
      'says its name and no more',
      (socket: { write(text: string): void }) => socket.write('SSH-2.0-Slow\r\n'),
    ],
  ])('fail after ConnectTimeout where the host %s', async (_what, serve) => {
    await using server = await startTcpServer(serve);
    await using pool = connections({ port: server.port, connectTimeoutMs: 300 });
    expect(await failureOf(pool.lease('box'))).toMatchObject({ code: 'ssh_timeout' });
  });

  it.each([
    ['that is no SSH', 'HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n'],
    ['of SSH 1', 'SSH-1.5-Old\r\n'],
    ['that hangs up at once', ''],
  ])('fail with a server %s', async (_what, greeting) => {
    await using server = await startTcpServer((socket) => socket.end(greeting));
    await using pool = connections({ port: server.port });
    expect(await failureOf(pool.lease('box'))).toMatchObject({ code: 'ssh_connect_failed' });
  });

  it('fail with a host that floods them before it says its name, long before the timeout', async () => {
    let sent = 0;
    await using server = await startTcpServer((socket) => {
      const line = Buffer.from(`${'x'.repeat(1022)}\r\n`);
      const more = () => {
        while (!socket.destroyed && socket.write(line)) sent += line.length;
      };
      socket.on('drain', more);
      more();
    });
    await using pool = connections({ port: server.port, connectTimeoutMs: 60_000 });
    const error = await failureOf(pool.lease('box'));
    expect(error).toMatchObject({ code: 'ssh_connect_failed' });
    expect(error.message).toContain(`${maxGreetingBytes} bytes without a version`);
    // What the kernels of both sides buffer, and no more.
    expect(sent).toBeLessThan(64 * 1024 * 1024);
  });
});

/** A port whose connections nobody takes any more. */
async function fullServer(): Promise<{ port: number; close(): void }> {
  const script = `
import socket, sys
s = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen(0)
held = []
for _ in range(4):
    c = socket.socket(); c.setblocking(False); c.connect_ex(s.getsockname()); held.append(c)
print(s.getsockname()[1], flush=True)
sys.stdin.read()`;
  const child = spawn('python3', ['-c', script], { stdio: ['pipe', 'pipe', 'inherit'] });
  const [line] = await once(child.stdout, 'data');
  return { port: Number(String(line)), close: () => child.kill() };
}
