import { execFileSync } from 'node:child_process';
import { appendFileSync, copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeSshKey, type Sshd, type SshKeyOptions, startSshd, whyNoSshd } from '../../testing/sshd.ts';
import type { ResolvedHost } from '../resolved-host.ts';
import { startSshAgent } from './testing/ssh-agent.ts';
import { connectionsTo, failureOf, hostOf } from './testing/ssh-peers.ts';
import { startTcpServer } from './testing/tcp-proxy.ts';

const reason = whyNoSshd();
if (reason !== undefined) console.warn(`skipped: ${reason}`);

describe.skipIf(reason !== undefined)('signing in to a real sshd', () => {
  let sshd: Sshd;
  let count = 0;
  beforeAll(async () => {
    sshd = await startSshd();
  });
  afterAll(() => sshd[Symbol.asyncDispose]());

  /** A new key, that may sign in unless said otherwise. */
  const keyFile = (options: SshKeyOptions = {}, mayEnter = true) => {
    const path = makeSshKey(join(sshd.folder, `id_${++count}`), options);
    if (mayEnter) appendFileSync(sshd.authorizedKeys, readFileSync(`${path}.pub`));
    return path;
  };
  /** Signs in, and waits for sshd to say that it took a key. */
  const signIn = async (changes: Partial<ResolvedHost>, to = sshd) => {
    const folder = mkdtempSync(join(sshd.folder, 'data-'));
    await using connections = connectionsTo(folder, [hostOf(to, changes)]);
    const before = to.log().length;
    using lease = await connections.lease('box');
    expect(lease.server).toMatch(/^SSH-2\.0-OpenSSH_/);
    await to.logged('Accepted publickey for', before);
  };

  const types = ['ed25519', 'ecdsa', 'rsa'] as const;
  const formats = [undefined, 'PEM', 'PKCS8'] as const;
  const bits = { ed25519: [undefined], ecdsa: [256, 384, 521], rsa: [2048, 3072] } as const;
  it.each(
    types.flatMap((type) => formats.flatMap((format) => bits[type].map((size) => ({ type, format, size })))),
  )('takes a key file: $type of $size bits in format $format', async ({ type, format, size }) => {
    const shape = format === undefined ? {} : { format };
    const path = keyFile({ type, ...shape, ...(size === undefined ? {} : { bits: size }) });
    rmSync(`${path}.pub`);
    await signIn({ identityFiles: [path] });
  });

  it.each(['rsa-sha2-256', 'rsa-sha2-512'])('signs with an RSA key by %s', async (algorithm) => {
    const path = keyFile({ type: 'rsa' });
    await using other = await startSshd({
      authorizedKeys: [readFileSync(`${path}.pub`, 'utf8').trim()],
      config: [`PubkeyAcceptedAlgorithms ${algorithm}`],
    });
    await signIn({ identityFiles: [path] }, other);
  });

  it('passes over files that are missing, broken, public or folders, to the one that works', async () => {
    const [broken, fifo] = [join(sshd.folder, 'broken'), join(sshd.folder, 'fifo')];
    execFileSync('mkfifo', [fifo]);
    writeFileSync(
      broken,
      '-----BEGIN OPENSSH PRIVATE KEY-----\nnonsense\n-----END OPENSSH PRIVATE KEY-----\n',
    );
    const files = [
      '/nowhere/id',
      broken,
      `${sshd.userKey}.pub`,
      sshd.folder,
      '/dev/zero',
      fifo,
      sshd.userKey,
    ];
    await signIn({ identityFiles: files });
  });

  it('tries the keys in their order, and says which by their names when none is taken', async () => {
    const files = [
      keyFile({}, false),
      keyFile({ type: 'rsa' }, false),
      keyFile({ passphrase: 'word' }, false),
    ];
    const error = await failureOf(signIn({ identityFiles: files }));
    expect(error.code).toBe('ssh_auth_failed');
    const [first, second, third] = files.map((path) => path.slice(sshd.folder.length + 1));
    expect(error.message).toContain(`tried ${first}, ${second}; ${third} has a passphrase`);
    expect(error.message).not.toContain(sshd.folder);
  });

  it('says so when there is no key', async () => {
    const error = await failureOf(signIn({ identityFiles: [] }));
    expect(error).toMatchObject({ code: 'ssh_auth_failed' });
    expect(error.message).toContain('there is no key to sign in with');
  });

  it('gives up when the host has heard enough', async () => {
    await using strict = await startSshd({ config: ['MaxAuthTries 2'] });
    const files = [1, 2, 3, 4].map(() => keyFile({}, false));
    const error = await failureOf(signIn({ identityFiles: files }, strict));
    expect(error.code).toBe('ssh_auth_failed');
    expect(error.message).toContain('Too many authentication failures');
  });

  it.each([undefined, 'PEM', 'PKCS8'] as const)(
    'uses a file with a passphrase through the agent that has its key: format %s',
    async (format) => {
      await using agent = await startSshAgent();
      const path = keyFile({
        type: 'ecdsa',
        passphrase: 'open sesame',
        ...(format === undefined ? {} : { format }),
      });
      const host = { identityFiles: [path], identityAgent: agent.socket };
      expect(await failureOf(signIn(host))).toMatchObject({ code: 'ssh_auth_failed' });
      agent.add(path, 'open sesame');
      await signIn(host);
    },
  );

  it('knows the key of such a file by what is in it, without the .pub beside it', async () => {
    await using agent = await startSshAgent();
    const path = keyFile({ passphrase: 'open sesame' });
    agent.add(path, 'open sesame');
    rmSync(`${path}.pub`);
    await signIn({ identityFiles: [path], identityAgent: agent.socket });
  });

  it.each(types)('uses a key that only the agent has: %s', async (type) => {
    await using agent = await startSshAgent();
    agent.add(keyFile({ type }));
    await signIn({ identityFiles: [], identitiesOnly: false, identityAgent: agent.socket });
  });

  it('uses no key of the agent that is not a file’s under IdentitiesOnly', async () => {
    await using agent = await startSshAgent();
    const path = keyFile();
    agent.add(path);
    const other = keyFile({}, false);
    const host = { identityAgent: agent.socket, identitiesOnly: true };
    expect(await failureOf(signIn({ ...host, identityFiles: [other] }))).toMatchObject({
      code: 'ssh_auth_failed',
    });
    const moved = join(sshd.folder, 'moved');
    copyFileSync(`${path}.pub`, `${moved}.pub`);
    await signIn({ ...host, identityFiles: [moved] });
  });

  it('does without an agent that is not there', async () => {
    await signIn({ identityAgent: '/nowhere/agent' });
  });

  it('does not forward the agent', async () => {
    await using agent = await startSshAgent();
    agent.add(sshd.userKey);
    const folder = mkdtempSync(join(sshd.folder, 'data-'));
    await using connections = connectionsTo(folder, [hostOf(sshd, { identityAgent: agent.socket })]);
    using lease = await connections.lease('box');
    const said = await new Promise<string>((resolve, reject) => {
      lease.client.exec('echo "[$SSH_AUTH_SOCK]"', (error, channel) => {
        if (error) return reject(error);
        let text = '';
        channel.on('data', (chunk: Buffer) => (text += chunk)).on('close', () => resolve(text));
      });
    });
    expect(said).toBe('[]\n');
  });

  it('names a host that takes passwords only as not supported, and sends it nothing', async () => {
    await using other = await startSshd({
      config: ['PubkeyAuthentication no', 'PasswordAuthentication yes', 'AuthenticationMethods password'],
    });
    const error = await failureOf(signIn({}, other));
    expect(error.code).toBe('ssh_password_host_unsupported');
    expect(error.message).toContain('password');
    await other.logged('[preauth]');
    expect(other.log()).not.toContain('Failed password');
  });

  it('fails where the host wants a password after the key', async () => {
    await using other = await startSshd({
      config: ['PasswordAuthentication yes', 'AuthenticationMethods publickey,password'],
    });
    const error = await failureOf(signIn({}, other));
    expect(error.code).toBe('ssh_auth_failed');
    expect(error.message).toContain('it knows user_key but wants more than that');
  });

  it.each([
    ['ssh-rsa signatures', 'HostKeyAlgorithms ssh-rsa'],
    ['CBC', 'Ciphers aes128-cbc,aes256-cbc'],
    ['HMAC-SHA1', 'Ciphers aes128-ctr\nMACs hmac-sha1,hmac-sha1-etm@openssh.com'],
    ['SHA-1 key exchanges', 'KexAlgorithms diffie-hellman-group14-sha1,diffie-hellman-group-exchange-sha1'],
    ['groups of its own', 'KexAlgorithms diffie-hellman-group-exchange-sha256'],
  ])('does not talk to a host that offers nothing but %s', async (_what, line) => {
    await using old = await startSshd({ hostKeyTypes: ['rsa'], config: line.split('\n') });
    const error = await failureOf(signIn({}, old));
    expect(error.code).toBe('ssh_connect_failed');
    expect(error.message).toMatch(/no matching/i);
  });

  it.each([
    ...['curve25519-sha256', 'ecdh-sha2-nistp256', 'ecdh-sha2-nistp384', 'ecdh-sha2-nistp521'],
    ...['diffie-hellman-group14-sha256', 'diffie-hellman-group16-sha512', 'diffie-hellman-group18-sha512'],
  ])('exchanges keys by %s', async (name) => {
    await using other = await startSshd({ config: [`KexAlgorithms ${name}`] });
    await signIn({}, other);
  });

  it.each([
    ...['aes128-gcm@openssh.com', 'aes256-gcm@openssh.com', 'chacha20-poly1305@openssh.com'],
    ...['aes128-ctr', 'aes192-ctr', 'aes256-ctr'],
  ])('encrypts by %s', async (name) => {
    await using other = await startSshd({ config: [`Ciphers ${name}`] });
    await signIn({}, other);
  });

  it('offers what it should and no more, strict key exchange among it', async () => {
    const sent = Promise.withResolvers<string>();
    await using server = await startTcpServer((socket) => {
      socket.write('SSH-2.0-Nobody\r\n');
      let text = '';
      socket.on('data', (chunk) => {
        text += chunk.toString('latin1');
        if (text.includes('none')) sent.resolve(text);
        if (text.includes('none')) socket.destroy();
      });
    });
    const failed = failureOf(signIn({ port: server.port }));
    const offer = await sent.promise;
    expect(offer).toContain('kex-strict-c-v00@openssh.com');
    expect(
      offer.match(/sha1|cbc|ssh-rsa|ssh-dss|md5|arcfour|group1-|group-exchange|zlib|cert-v01/g),
    ).toBeNull();
    expect((await failed).code).toBe('ssh_connect_failed');
  });
});
