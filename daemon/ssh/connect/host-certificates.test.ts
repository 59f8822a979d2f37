import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Sshd } from '../../testing/sshd.ts';
import { makeSshKey, type SshdFiles, type SshKeyType, startSshd, whyNoSshd } from '../../testing/sshd.ts';
import { connectionsTo, failureOf, hostOf } from './testing/ssh-peers.ts';

const reason = whyNoSshd();
if (reason !== undefined) console.warn(`skipped: ${reason}`);

interface Signing {
  readonly type?: SshKeyType;
  readonly authority?: SshKeyType;
  /** Arguments of ssh-keygen -s. */
  readonly how?: readonly string[];
  /** More lines of sshd_config. */
  readonly config?: readonly string[];
}

const forHost = ['-h', '-n', '127.0.0.1'];

/** An sshd whose one host key is signed by an authority of its own, `<folder>/ca`. */
async function startSigned({
  type = 'ed25519',
  authority = 'ed25519',
  how = forHost,
  config = [],
}: Signing = {}) {
  return startSshd({
    hostKeyTypes: [type],
    config: (made: SshdFiles) => {
      const ca = makeSshKey(join(made.folder, 'ca'), { type: authority });
      sign(ca, how, `${made.hostKey(type)}.pub`);
      return [`HostCertificate ${made.hostKey(type)}-cert.pub`, ...config];
    },
  });
}

function sign(ca: string, how: readonly string[], publicKey: string): void {
  execFileSync('ssh-keygen', ['-q', '-s', ca, '-I', 'test', ...how, publicKey], { stdio: 'ignore' });
}

function keyOf(path: string): string {
  return readFileSync(`${path}.pub`, 'utf8').split(' ').slice(0, 2).join(' ');
}

function fingerprintOf(path: string): string {
  return execFileSync('ssh-keygen', ['-lf', `${path}.pub`], { encoding: 'utf8' }).split(' ')[1] ?? '';
}

function connectionsKnowing(sshd: Sshd, text: string, changes: Parameters<typeof hostOf>[1] = {}) {
  const folder = mkdtempSync(join(sshd.folder, 'data-'));
  writeFileSync(join(folder, 'known_hosts'), text);
  return connectionsTo(folder, [
    hostOf(sshd, { knownHostsFiles: [join(folder, 'known_hosts')], ...changes }),
  ]);
}

const authorityLine = (sshd: Sshd) => `@cert-authority * ${keyOf(join(sshd.folder, 'ca'))}\n`;

describe.skipIf(reason !== undefined)('a real sshd with a host certificate', () => {
  const types: readonly SshKeyType[] = ['ed25519', 'ecdsa', 'rsa'];
  it.each(types.flatMap((type) => types.map((authority) => ({ type, authority }))))(
    'is known by its authority: $type key signed by $authority',
    async ({ type, authority }) => {
      await using sshd = await startSigned({ type, authority });
      await using connections = connectionsKnowing(sshd, authorityLine(sshd));
      using lease = await connections.lease('box');
      expect(lease.fingerprint).toBe(fingerprintOf(sshd.hostKey(type)));
      await sshd.logged('Accepted publickey for');
    },
  );

  it('goes on through a renewal of the keys', async () => {
    await using sshd = await startSigned({ config: ['RekeyLimit 256K'] });
    await using connections = connectionsKnowing(sshd, authorityLine(sshd));
    using lease = await connections.lease('box');
    const received = await new Promise<number>((resolve, reject) => {
      lease.client.exec('head -c 3000000 /dev/zero', (error, channel) => {
        if (error) return reject(error);
        let bytes = 0;
        channel.on('data', (chunk: Buffer) => (bytes += chunk.length)).on('close', () => resolve(bytes));
      });
    });
    expect(received).toBe(3_000_000);
  });

  it.each([
    ['of another name', ['-h', '-n', 'other.example'], 'it is not for 127.0.0.1'],
    ['that has expired', [...forHost, '-V', '20200101:20210101'], 'it has expired'],
    ['that is not valid yet', [...forHost, '-V', '20990101:20991231'], 'it is not valid yet'],
  ])('is unknown with a certificate %s, and says so', async (_which, how, detail) => {
    await using sshd = await startSigned({ how });
    await using connections = connectionsKnowing(sshd, authorityLine(sshd));
    const error = await failureOf(connections.lease('box'));
    expect(error).toMatchObject({
      code: 'ssh_host_key_unknown',
      members: { fingerprint: fingerprintOf(sshd.hostKey('ed25519')), key_type: 'ssh-ed25519' },
    });
    expect(error.message).toContain(detail);
  });

  it('is unknown by an authority that is not known, and connects once its own key is accepted', async () => {
    await using sshd = await startSigned();
    const other = makeSshKey(join(sshd.folder, 'other_ca'));
    await using connections = connectionsKnowing(sshd, `@cert-authority * ${keyOf(other)}\n`);
    const error = await failureOf(connections.lease('box'));
    expect(error).toMatchObject({ code: 'ssh_host_key_unknown' });
    expect(error.message).toContain('its authority is not known');
    const fingerprint = fingerprintOf(sshd.hostKey('ed25519'));
    await connections.accept('box', { fingerprint });
    using lease = await connections.lease('box');
    expect(lease.fingerprint).toBe(fingerprint);
  });

  it('is not vouched for by an authority of other hosts', async () => {
    await using sshd = await startSigned();
    const line = `@cert-authority *.example,!127.0.0.1 ${keyOf(join(sshd.folder, 'ca'))}\n`;
    await using connections = connectionsKnowing(sshd, line);
    expect(await failureOf(connections.lease('box'))).toMatchObject({ code: 'ssh_host_key_unknown' });
  });

  it('takes the name to certify from HostKeyAlias', async () => {
    await using sshd = await startSigned({ how: ['-h', '-n', 'vault'] });
    await using connections = connectionsKnowing(sshd, authorityLine(sshd), { hostKeyAlias: 'vault' });
    using lease = await connections.lease('box');
    expect(lease.keyType).toBe('ssh-ed25519');
  });

  it.each([
    ['authority', (sshd: Sshd) => join(sshd.folder, 'ca')],
    ['key', (sshd: Sshd) => sshd.hostKey('ed25519')],
  ])('is refused when its %s is revoked', async (_what, revoked) => {
    await using sshd = await startSigned();
    const line = `@revoked * ${keyOf(revoked(sshd))}\n`;
    await using connections = connectionsKnowing(sshd, `${authorityLine(sshd)}${sshd.knownHosts()}${line}`);
    expect(await failureOf(connections.lease('box'))).toMatchObject({ code: 'ssh_host_key_revoked' });
  });

  it('is refused when another key of its own is known and the certificate is not in order', async () => {
    await using sshd = await startSigned({ how: ['-h', '-n', 'other.example'] });
    const other = `[127.0.0.1]:${sshd.port} ${keyOf(makeSshKey(join(sshd.folder, 'other')))}\n`;
    await using connections = connectionsKnowing(sshd, `${authorityLine(sshd)}${other}`);
    expect(await failureOf(connections.lease('box'))).toMatchObject({ code: 'ssh_host_key_changed' });
  });

  it('is asked for its plain key where no authority is known for it', async () => {
    await using sshd = await startSigned();
    await using connections = connectionsKnowing(sshd, sshd.knownHosts());
    using lease = await connections.lease('box');
    expect(lease.keyType).toBe('ssh-ed25519');
  });
});
