import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeSshKey, type Sshd, startSshd, whyNoSshd } from '../../testing/sshd.ts';
import { loadSsh2 } from './load-ssh2.ts';
import { connectionsTo, failureOf, hostOf } from './testing/ssh-peers.ts';
import { maxSignInBytes } from './watch-sign-in.ts';

const reason = whyNoSshd();
if (reason !== undefined) console.warn(`skipped: ${reason}`);
const { Server, utils } = await loadSsh2();

const folder = mkdtempSync(join(tmpdir(), 'tallystick-hostile-'));
afterAll(() => rm(folder, { recursive: true }));

// biome-ignore lint/suspicious/noExplicitAny: the server's insides are what an attacker has in hand
type Insides = any;

/** ssh2's server with the key in `keyFile`, that does at its will. */
async function startHostile(keyFile: string, onConnection: (insides: Insides) => void) {
  const server = new Server({ hostKeys: [readFileSync(keyFile)] }, (client) => {
    client.on('error', () => {}); // the client hangs up
    onConnection(client);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as { port: number }).port,
    async [Symbol.asyncDispose]() {
      server.close();
    },
  };
}

describe.skipIf(reason !== undefined)('a host that means ill', () => {
  let sshd: Sshd;
  beforeAll(async () => {
    sshd = await startSshd();
  });
  afterAll(() => sshd[Symbol.asyncDispose]());

  /** A host key with a certificate for 127.0.0.1, and the line that trusts its authority. */
  const certified = () => {
    const own = mkdtempSync(join(folder, 'certified-'));
    const [key, authority] = [makeSshKey(join(own, 'key')), makeSshKey(join(own, 'ca'))];
    const how = ['-q', '-s', authority, '-I', 'x', '-h', '-n', '127.0.0.1'];
    execFileSync('ssh-keygen', [...how, `${key}.pub`], { stdio: 'ignore' });
    const certificate = Buffer.from(readFileSync(`${key}-cert.pub`, 'utf8').split(' ')[1] ?? '', 'base64');
    writeFileSync(join(own, 'known'), `@cert-authority * ${readFileSync(`${authority}.pub`, 'utf8')}`);
    return { key, certificate, knownHostsFiles: [join(own, 'known')] };
  };

  /** Shows `certificate`, and signs with the key in `keyFile`. */
  const impostor = (certificate: Buffer, keyFile: string, signedAs = 'ssh-ed25519') =>
    startHostile(keyFile, ({ _protocol: protocol }: Insides) => {
      const name = 'ssh-ed25519-cert-v01@openssh.com';
      const own = protocol._hostKeys['ssh-ed25519'];
      protocol._hostKeys = {
        [name]: {
          type: 'ssh-ed25519',
          getPublicSSH: () => certificate,
          sign: (hash: Buffer) => {
            protocol._kex.negotiated.serverHostKey = signedAs;
            return own.sign(hash);
          },
        },
      };
      const { lists, constructor: Offer } = protocol._offer;
      const names = ({ cipher, mac, compress, lang }: Insides) => ({
        ...{ cipher: cipher.array, mac: mac.array, compress: compress.array, lang: lang.array },
      });
      protocol._offer = new Offer({
        ...{ kex: lists.kex.array, serverHostKey: [name], cs: names(lists.cs), sc: names(lists.sc) },
      });
    });

  it('does not pass with the certificate of another, whose key it lacks', async () => {
    const { key, certificate, knownHostsFiles } = certified();
    const connectTo = async (port: number) => {
      await using pool = connectionsTo(folder, [
        hostOf(sshd, { port, knownHostsFiles, connectTimeoutMs: 3_000 }),
      ]);
      return (await failureOf(pool.lease('box'))).message;
    };
    await using thief = await impostor(certificate, makeSshKey(join(folder, 'thief')));
    expect(await connectTo(thief.port)).toContain('signature verification failed');
    await using misnamed = await impostor(certificate, key, 'ssh-ed25519-cert-v01@openssh.com');
    expect(await connectTo(misnamed.port)).toContain('Wrong signature type');
    // The same server with the right key gets as far as the sign-in, so it is the key that the first one lacked.
    await using owner = await impostor(certificate, key);
    expect(await connectTo(owner.port)).toMatch(/sign-in|refuses/);
  });

  it('does not pass with a known key that it lacks', async () => {
    const known = `${sshd.folder}/known_hosts`;
    await using thief = await startHostile(
      makeSshKey(join(folder, 'thief2')),
      ({ _protocol: protocol }: Insides) => {
        const own = protocol._hostKeys['ssh-ed25519'];
        const shown = utils.parseKey(readFileSync(`${sshd.hostKey('ed25519')}.pub`));
        if (shown instanceof Error) throw shown;
        protocol._hostKeys = {
          'ssh-ed25519': {
            ...shown,
            type: 'ssh-ed25519',
            getPublicSSH: () => shown.getPublicSSH(),
            sign: own.sign.bind(own),
          },
        };
      },
    );
    const host = hostOf(sshd, {
      port: thief.port,
      knownHostsFiles: [known],
      hostKeyAlias: `[127.0.0.1]:${sshd.port}`,
    });
    await using pool = connectionsTo(folder, [host]);
    const error = await failureOf(pool.lease('box'));
    expect(error).toMatchObject({ code: 'ssh_connect_failed' });
    expect(error.message).toContain('signature verification failed');
  });

  it('can not go on for ever before the sign-in, long before the timeout', async () => {
    const keyFile = makeSshKey(join(folder, 'endless'));
    const known = join(folder, 'endless_known');
    writeFileSync(known, `* ${readFileSync(`${keyFile}.pub`, 'utf8')}`);
    let sent = 0;
    await using server = await startHostile(keyFile, (client: Insides) => {
      client.on('authentication', () => {
        const protocol = client._protocol;
        const banner = Buffer.from(`${'spam'.repeat(4096)}`);
        const more = () => {
          for (let count = 0; count < 8 && !client._sock.destroyed; count++) {
            const packet = protocol._packetRW.write.alloc(1 + 4 + banner.length + 4);
            const at = protocol._packetRW.write.allocStart;
            packet[at] = 53; // SSH_MSG_USERAUTH_BANNER
            packet.writeUInt32BE(banner.length, at + 1);
            packet.set(banner, at + 5);
            packet.writeUInt32BE(0, at + 5 + banner.length);
            protocol._cipher.encrypt(protocol._packetRW.write.finalize(packet));
            sent += banner.length;
          }
          if (!client._sock.destroyed) setImmediate(more);
        };
        more();
      });
    });
    const host = hostOf(sshd, { port: server.port, knownHostsFiles: [known], connectTimeoutMs: 60_000 });
    await using pool = connectionsTo(folder, [host]);
    const error = await failureOf(pool.lease('box'));
    expect(error).toMatchObject({ code: 'ssh_connect_failed' });
    expect(error.message).toContain(`more than ${maxSignInBytes} bytes before the sign-in`);
    expect(sent).toBeGreaterThan(maxSignInBytes - 64 * 1024);
  });

  it('can show no banner that is larger than a packet may be', async () => {
    writeFileSync(join(folder, 'banner'), 'x'.repeat(1_000_000));
    await using other = await startSshd({ config: [`Banner ${join(folder, 'banner')}`] });
    await using pool = connectionsTo(folder, [hostOf(other)]);
    expect(await failureOf(pool.lease('box'))).toMatchObject({ code: 'ssh_connect_failed' });
  });
});
