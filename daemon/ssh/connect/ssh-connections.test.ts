import { mkdtempSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { memoryLog } from '../../testing/memory-log.ts';
import { until } from '../../testing/processes.ts';
import { type Sshd, startSshd, whyNoSshd } from '../../testing/sshd.ts';
import type { SshLease } from '../ssh-connection.ts';
import { isChannelRefused, type SshConnectionsOptions } from './ssh-connections.ts';
import { connectionsTo, failureOf, hostOf } from './testing/ssh-peers.ts';
import { startTcpProxy, startTcpServer } from './testing/tcp-proxy.ts';

const reason = whyNoSshd();
if (reason !== undefined) console.warn(`skipped: ${reason}`);

function run(lease: SshLease, command: string): Promise<string> {
  return new Promise((resolve, reject) => {
    lease.client.exec(command, (error, channel) => {
      if (error) return reject(error);
      let text = '';
      channel.on('data', (chunk: Buffer) => (text += chunk)).on('close', () => resolve(text));
    });
  });
}

describe.skipIf(reason !== undefined)('connections to a real sshd', () => {
  let sshd: Sshd;
  beforeAll(async () => {
    sshd = await startSshd();
  });
  afterAll(() => sshd[Symbol.asyncDispose]());

  const folder = () => mkdtempSync(join(sshd.folder, 'data-'));
  /** A way to the sshd that counts the connections as they come in, which its log tells only later. */
  const counted = async () => {
    const proxy = await startTcpProxy(sshd.port);
    return { proxy, host: { port: proxy.port, hostKeyAlias: `[127.0.0.1]:${sshd.port}` } };
  };
  const connections = (
    changes: Parameters<typeof hostOf>[1] = {},
    options: Partial<SshConnectionsOptions> = {},
  ) => connectionsTo(folder(), [hostOf(sshd, changes)], options);

  it('are shared: ten leases at once make one, an eleventh a second', async () => {
    const { proxy, host } = await counted();
    await using _proxy = proxy;
    await using pool = connections(host);
    const leases = await Promise.all(Array.from({ length: 10 }, () => pool.lease('box')));
    expect(proxy.connections).toBe(1);
    expect(await Promise.all(leases.map((lease) => run(lease, 'echo hi')))).toEqual(Array(10).fill('hi\n'));
    using _more = await pool.lease('box');
    expect(proxy.connections).toBe(2);
    for (const lease of leases) lease[Symbol.dispose]();
    using _again = await pool.lease('box');
    expect(proxy.connections).toBe(2);
  });

  it('count a lease once, however often it is given back', async () => {
    const { proxy, host } = await counted();
    await using _proxy = proxy;
    await using pool = connections(host, { leasesPerConnection: 2 });
    const first = await pool.lease('box');
    first[Symbol.dispose]();
    first[Symbol.dispose]();
    const held = [await pool.lease('box'), await pool.lease('box')];
    expect(proxy.connections).toBe(1);
    held.push(await pool.lease('box'));
    expect(proxy.connections).toBe(2);
    for (const lease of held) lease[Symbol.dispose]();
  });

  it('close when nobody has used them for a while, and not before', async () => {
    await using pool = connections({}, { idleMs: 50 });
    const lease = await pool.lease('box');
    let lost = false;
    void lease.lost.then(() => {
      lost = true;
    });
    expect(await run(lease, 'sleep 0.2; echo done')).toBe('done\n');
    expect(lost).toBe(false);
    lease[Symbol.dispose]();
    await lease.lost;
    using next = await pool.lease('box');
    expect(await run(next, 'echo again')).toBe('again\n');
  });

  it('are all closed on dispose, leased or not', async () => {
    const before = sshd.log().length;
    const pool = connections();
    const lease = await pool.lease('box');
    await pool[Symbol.asyncDispose]();
    await lease.lost;
    lease[Symbol.dispose]();
    await sshd.logged('Disconnected from user', before);
  });

  it('are given up on dispose while they are being made', async () => {
    await using silent = await startTcpServer(() => {});
    const pool = connections({ port: silent.port });
    const failed = failureOf(pool.lease('box'));
    await pool[Symbol.asyncDispose]();
    expect(await failed).toMatchObject({ code: 'shutting_down' });
    expect(await failureOf(pool.lease('box'))).toMatchObject({ code: 'shutting_down' });
  });

  it('are new ones when the configuration says something else', async () => {
    let user = sshd.user;
    const { proxy, host } = await counted();
    await using _proxy = proxy;
    await using pool = connectionsTo(folder(), async (alias) => hostOf(sshd, { ...host, alias, user }));
    const first = await pool.lease('box');
    user = 'nobody-of-this-name';
    expect(await failureOf(pool.lease('box'))).toMatchObject({ code: 'ssh_auth_failed' });
    expect(proxy.connections).toBe(2);
    expect(await run(first, 'echo still here')).toBe('still here\n');
    first[Symbol.dispose]();
    await first.lost;
  });

  it('do not share a failure: the next lease tries anew', async () => {
    let port = 1;
    await using pool = connectionsTo(folder(), async (alias) => hostOf(sshd, { alias, port }));
    expect(await failureOf(pool.lease('box'))).toMatchObject({ code: 'ssh_connect_failed' });
    port = sshd.port;
    using lease = await pool.lease('box');
    expect(await run(lease, 'echo hi')).toBe('hi\n');
  });

  it('tell at once when the host takes no further channel, and can be had afresh then', async () => {
    await using narrow = await startSshd({ config: ['MaxSessions 1'] });
    await using pool = connectionsTo(folder(), [hostOf(narrow)]);
    using lease = await pool.lease('box');
    const first = run(lease, 'read line; echo "$line"');
    const error = await failureOf(run(lease, 'echo second'));
    expect(isChannelRefused(error)).toBe(true);
    using fresh = await pool.lease('box', { fresh: true });
    expect(await run(fresh, 'echo second')).toBe('second\n');
    await until('sshd tells of the second', () => narrow.connections() === 2);
    lease.client.end();
    await first;
  });

  it('go by way of two hosts, and are lost with one of them', async () => {
    const gates = [await startSshd(), await startSshd()] as const;
    await using _first = gates[0];
    await using _second = gates[1];
    const proxyJump = gates.map((gate, at) => hostOf(gate, { alias: `gate${at}` }));
    await using pool = connections({ proxyJump });
    using lease = await pool.lease('box');
    expect(await run(lease, 'echo $SSH_CONNECTION')).toContain(` ${sshd.port}\n`);
    for (const gate of gates) await gate.logged('Accepted publickey for');
    await gates[1].kill();
    await lease.lost;
    expect(await failureOf(pool.lease('box'))).toMatchObject({ code: 'ssh_connect_failed' });
  });

  it('say which host on the way can not be reached, or signed in to', async () => {
    await using gate = await startSshd();
    const proxyJump = [hostOf(gate, { alias: 'gate' })];
    await using pool = connectionsTo(folder(), [
      hostOf(sshd, { alias: 'far', port: 1, proxyJump }),
      hostOf(sshd, { alias: 'barred', proxyJump: [hostOf(gate, { alias: 'gate', identityFiles: [] })] }),
    ]);
    const far = await failureOf(pool.lease('far'));
    expect(far).toMatchObject({ code: 'ssh_connect_failed' });
    expect(far.message).toContain('far (127.0.0.1, port 1) can not be reached from gate');
    const barred = await failureOf(pool.lease('barred'));
    expect(barred).toMatchObject({ code: 'ssh_auth_failed' });
    expect(barred.message).toContain(`gate (127.0.0.1, port ${gate.port})`);
  });

  it('take a greeting of some lines before the name', async () => {
    await using greeter = await greetingProxy(sshd.port, 'Authorized use only.\r\nSSH is watched.\r\n');
    await using pool = connections({ port: greeter.port, hostKeyAlias: `[127.0.0.1]:${sshd.port}` });
    using lease = await pool.lease('box');
    expect(lease.server).toMatch(/^SSH-2\.0-OpenSSH_[^ ]+$/);
  });

  it('show a banner to nobody, and sign in after it', async () => {
    await using other = await startSshd({ config: ['Banner /etc/services'] });
    await using pool = connectionsTo(folder(), [hostOf(other)]);
    using lease = await pool.lease('box');
    expect(await run(lease, 'echo hi')).toBe('hi\n');
  });

  it('are lost when the network is cut, not while it is there, and made anew for the next lease', async () => {
    await using proxy = await startTcpProxy(sshd.port);
    const log = memoryLog();
    const hostKeyAlias = `[127.0.0.1]:${sshd.port}`;
    const alive = { serverAliveIntervalMs: 200, serverAliveCountMax: 3 };
    await using pool = connections({ port: proxy.port, hostKeyAlias, ...alive }, { logger: log.logger });
    const lease = await pool.lease('box');
    // Alive for longer than the limit while the network is there.
    expect(await run(lease, 'sleep 1; echo alive')).toBe('alive\n');
    proxy.cut();
    await lease.lost;
    lease[Symbol.dispose]();
    using next = await pool.lease('box');
    expect(await run(next, 'echo back')).toBe('back\n');
    expect(proxy.connections).toBe(2);
  });

  it('are lost too where a single message may go unanswered', async () => {
    await using proxy = await startTcpProxy(sshd.port);
    const hostKeyAlias = `[127.0.0.1]:${sshd.port}`;
    await using pool = connections({
      ...{ port: proxy.port, hostKeyAlias, serverAliveIntervalMs: 400, serverAliveCountMax: 1 },
    });
    using lease = await pool.lease('box');
    expect(await run(lease, 'sleep 1; echo alive')).toBe('alive\n');
    proxy.cut();
    await lease.lost;
  });

  it('are lost with the host', async () => {
    await using other = await startSshd();
    await using pool = connectionsTo(folder(), [hostOf(other)]);
    using lease = await pool.lease('box');
    await other.kill();
    await lease.lost;
  });

  it('close on dispose though the network is cut', async () => {
    await using proxy = await startTcpProxy(sshd.port);
    const pool = connections({ port: proxy.port, hostKeyAlias: `[127.0.0.1]:${sshd.port}` });
    const lease = await pool.lease('box');
    proxy.cut();
    await pool[Symbol.asyncDispose]();
    await lease.lost;
  });
});

async function greetingProxy(toPort: number, greeting: string): Promise<AsyncDisposable & { port: number }> {
  return startTcpServer((near) => {
    near.write(greeting);
    const far = connect(toPort, '127.0.0.1');
    far.on('error', () => {}); // the other end may vanish
    near.pipe(far);
    far.pipe(near);
  });
}
