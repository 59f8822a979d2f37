import { execFileSync } from 'node:child_process';
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeSshKey, type Sshd, startSshd, whyNoSshd } from '../../testing/sshd.ts';
import type { ResolvedHost } from '../resolved-host.ts';
import { connectionsTo, failureOf, hostOf } from './testing/ssh-peers.ts';

const reason = whyNoSshd();
if (reason !== undefined) console.warn(`skipped: ${reason}`);

describe.skipIf(reason !== undefined)('the host keys of a real sshd', () => {
  let sshd: Sshd;
  let count = 0;
  beforeAll(async () => {
    sshd = await startSshd({ hostKeyTypes: ['ed25519', 'ecdsa', 'rsa'] });
  });
  afterAll(() => sshd[Symbol.asyncDispose]());

  /** A known_hosts file with this text. */
  const known = (text: string) => {
    const path = `${sshd.folder}/known_${++count}`;
    writeFileSync(path, text);
    return path;
  };
  const keyLine = (type: 'ed25519' | 'ecdsa' | 'rsa') =>
    readFileSync(`${sshd.hostKey(type)}.pub`, 'utf8')
      .split(' ')
      .slice(0, 2)
      .join(' ');
  const printed = (type: 'ed25519' | 'ecdsa' | 'rsa') =>
    execFileSync('ssh-keygen', ['-lf', `${sshd.hostKey(type)}.pub`], { encoding: 'utf8' }).split(' ')[1];
  const otherKey = () => readFileSync(`${makeSshKey(`${sshd.folder}/other_${++count}`)}.pub`, 'utf8');
  const folder = () => {
    const path = `${sshd.folder}/data_${++count}`;
    execFileSync('mkdir', [path]);
    return path;
  };
  const connectWith = async (changes: Partial<ResolvedHost>) => {
    await using connections = connectionsTo(folder(), [hostOf(sshd, changes)]);
    using lease = await connections.lease('box');
    return { keyType: lease.keyType, fingerprint: lease.fingerprint };
  };

  it('refuses an unknown key with its fingerprint, as ssh-keygen prints it', async () => {
    const before = sshd.log().length;
    const error = await failureOf(connectWith({ knownHostsFiles: [known('')] }));
    expect(error.code).toBe('ssh_host_key_unknown');
    expect(error.members).toEqual({
      host: 'box',
      hop: 'box',
      hostname: '127.0.0.1',
      port: sshd.port,
      key_type: 'ssh-ed25519',
      fingerprint: printed('ed25519'),
      known_fingerprints: [],
    });
    await sshd.logged('[preauth]', before);
    expect(sshd.log().slice(before)).not.toContain('publickey');
  });

  it('connects once the key is accepted, and writes it to our own file, not to the user’s', async () => {
    const theirs = `${sshd.folder}/none_yet`;
    const data = folder();
    await using connections = connectionsTo(data, [hostOf(sshd, { knownHostsFiles: [theirs] })]);
    await failureOf(connections.lease('box'));
    const fingerprint = printed('ed25519') ?? '';
    const accepted = await connections.accept('box', { fingerprint });
    expect(accepted).toMatchObject({
      hostname: '127.0.0.1',
      port: sshd.port,
      key_type: 'ssh-ed25519',
      fingerprint,
    });
    using lease = await connections.lease('box');
    expect(lease.fingerprint).toBe(fingerprint);
    expect(existsSync(theirs)).toBe(false);
    const found = execFileSync('ssh-keygen', [
      '-F',
      `[127.0.0.1]:${sshd.port}`,
      '-f',
      `${data}/accepted_hosts`,
    ]);
    expect(String(found)).toContain(keyLine('ed25519'));
  });

  it('accepts no key by another fingerprint, and none that was never offered', async () => {
    await using connections = connectionsTo(folder(), [hostOf(sshd, { knownHostsFiles: [] })]);
    const fingerprint = printed('ed25519') ?? '';
    expect(await failureOf(connections.accept('box', { fingerprint }))).toMatchObject({ code: 'conflict' });
    await failureOf(connections.lease('box'));
    const other = printed('rsa') ?? '';
    expect(await failureOf(connections.accept('box', { fingerprint: other }))).toMatchObject({
      code: 'conflict',
    });
    expect(await failureOf(connections.lease('box'))).toMatchObject({ code: 'ssh_host_key_unknown' });
  });

  it('refuses a changed key with the known fingerprints, and lets nobody accept it', async () => {
    const file = known(`[127.0.0.1]:${sshd.port} ${otherKey()}`);
    const data = folder();
    await using connections = connectionsTo(data, [hostOf(sshd, { knownHostsFiles: [file] })]);
    const error = await failureOf(connections.lease('box'));
    const before = execFileSync('ssh-keygen', ['-lf', file], { encoding: 'utf8' }).split(' ')[1];
    expect(error).toMatchObject({ code: 'ssh_host_key_changed', members: { known_fingerprints: [before] } });
    const fingerprint = printed('ed25519') ?? '';
    expect(await failureOf(connections.accept('box', { fingerprint }))).toMatchObject({ code: 'conflict' });
    // Not even a line in our own file counts against the user's.
    writeFileSync(`${data}/accepted_hosts`, sshd.knownHosts());
    expect(await failureOf(connections.lease('box'))).toMatchObject({ code: 'ssh_host_key_changed' });
  });

  it('refuses to accept a key that the user’s file contradicts since it was offered', async () => {
    const file = known('');
    await using connections = connectionsTo(folder(), [hostOf(sshd, { knownHostsFiles: [file] })]);
    await failureOf(connections.lease('box'));
    appendFileSync(file, `[127.0.0.1]:${sshd.port} ${otherKey()}`);
    const error = await failureOf(connections.accept('box', { fingerprint: printed('ed25519') ?? '' }));
    expect(error.code).toBe('ssh_host_key_changed');
  });

  it('refuses a changed key where only our own file knows the host', async () => {
    const data = folder();
    writeFileSync(`${data}/accepted_hosts`, `[127.0.0.1]:${sshd.port} ${otherKey()}`);
    await using connections = connectionsTo(data, [hostOf(sshd, { knownHostsFiles: [] })]);
    expect(await failureOf(connections.lease('box'))).toMatchObject({ code: 'ssh_host_key_changed' });
  });

  it('finds a host in a file that ssh-keygen hashed', async () => {
    const file = known(sshd.knownHosts());
    execFileSync('ssh-keygen', ['-H', '-f', file], { stdio: 'ignore' });
    const hashed = readFileSync(file, 'utf8');
    writeFileSync(file, `# all of them\n\n|1|broken\n@unheard-of * ssh-rsa AAAA\n* ssh-ed25519 A\n${hashed}`);
    expect(readFileSync(file, 'utf8')).not.toContain('127.0.0.1');
    expect(await connectWith({ knownHostsFiles: [file] })).toMatchObject({ fingerprint: printed('ed25519') });
  });

  it('prefers the entry of the port to that of the bare name, and takes that where there is none', async () => {
    const bare = `127.0.0.1 ${keyLine('ed25519')}\n`;
    expect(await connectWith({ knownHostsFiles: [known(bare)] })).toMatchObject({ keyType: 'ssh-ed25519' });
    const file = known(`${bare}[127.0.0.1]:${sshd.port} ${otherKey()}`);
    expect(await failureOf(connectWith({ knownHostsFiles: [file] }))).toMatchObject({
      code: 'ssh_host_key_changed',
    });
    const otherPort = known(`[127.0.0.1]:1 ${keyLine('ed25519')}\n`);
    expect(await failureOf(connectWith({ knownHostsFiles: [otherPort] }))).toMatchObject({
      code: 'ssh_host_key_unknown',
    });
  });

  it('looks a host up by its HostKeyAlias alone', async () => {
    const file = known(`vault ${keyLine('ed25519')}\n[127.0.0.1]:${sshd.port} ${otherKey()}`);
    expect(await connectWith({ knownHostsFiles: [file], hostKeyAlias: 'Vault' })).toMatchObject({
      fingerprint: printed('ed25519'),
    });
  });

  it.each([
    ['ecdsa', 'ecdsa-sha2-nistp256'],
    ['rsa', 'ssh-rsa'],
    ['ed25519', 'ssh-ed25519'],
  ] as const)('asks a host of several keys for the one that is known: %s', async (type, keyType) => {
    const file = known(`[127.0.0.1]:${sshd.port} ${keyLine(type)}\n`);
    expect(await connectWith({ knownHostsFiles: [file] })).toEqual({ keyType, fingerprint: printed(type) });
  });

  it('never connects with a revoked key, in whichever file it is revoked or known', async () => {
    const data = folder();
    writeFileSync(`${data}/accepted_hosts`, sshd.knownHosts());
    const files = [known(sshd.knownHosts()), known(`@revoked * ${keyLine('ed25519')}\n`)];
    await using connections = connectionsTo(data, [hostOf(sshd, { knownHostsFiles: files })]);
    const error = await failureOf(connections.lease('box'));
    expect(error).toMatchObject({
      code: 'ssh_host_key_revoked',
      members: { fingerprint: printed('ed25519') },
    });
    const fingerprint = printed('ed25519') ?? '';
    expect(await failureOf(connections.accept('box', { fingerprint }))).toMatchObject({ code: 'conflict' });
  });

  it('verifies each host on the way to another', async () => {
    await using far = await startSshd();
    const gate = hostOf(sshd, { alias: 'gate' });
    const box = hostOf(far, { proxyJump: [{ ...gate, knownHostsFiles: [] }], knownHostsFiles: [] });
    await using connections = connectionsTo(folder(), [box]);
    const first = await failureOf(connections.lease('box'));
    expect(first).toMatchObject({ code: 'ssh_host_key_unknown', members: { host: 'box', hop: 'gate' } });
    expect(far.connections()).toBe(0);
    await connections.accept('box', { hop: 'gate', fingerprint: printed('ed25519') ?? '' });
    const second = await failureOf(connections.lease('box'));
    expect(second).toMatchObject({ code: 'ssh_host_key_unknown', members: { host: 'box', hop: 'box' } });
    const { fingerprint } = second.members as { fingerprint: string };
    await connections.accept('box', { fingerprint });
    using lease = await connections.lease('box');
    expect(lease.fingerprint).toBe(fingerprint);
  });

  it('refuses to go on where a known_hosts file can not be read', async () => {
    const error = await failureOf(connectWith({ knownHostsFiles: [sshd.folder] }));
    expect(error).toMatchObject({ code: 'ssh_failed' });
  });
});
