import { execFileSync } from 'node:child_process';
import { createPublicKey, verify } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { makeSshKey } from '../../testing/sshd.ts';
import type { ResolvedHost } from '../resolved-host.ts';
import { type KeyRing, loadKeyRing } from './key-ring.ts';
import { loadSsh2 } from './load-ssh2.ts';

const folder = mkdtempSync(join(tmpdir(), 'tallystick-keys-'));
afterAll(() => rm(folder, { recursive: true }));
const ssh2 = await loadSsh2();

function host(changes: Partial<ResolvedHost>): ResolvedHost {
  return {
    ...{ alias: 'box', hostname: 'box', port: 22, user: 'me', identityFiles: [], identitiesOnly: false },
    ...{
      identityAgent: null,
      proxyJump: [],
      knownHostsFiles: [],
      hostKeyAlias: null,
      connectTimeoutMs: 1000,
    },
    ...{ serverAliveIntervalMs: 0, serverAliveCountMax: 3 },
    ...changes,
  };
}

/** What is offered, in its order: the name of the algorithm and the signature by it. */
function signAll(ring: KeyRing, data: Buffer): Promise<[string, Buffer][]> {
  return new Promise((resolve, reject) => {
    ring.agent.getIdentities((_error, keys) => {
      const signed = (keys ?? []).map((key) => {
        if (!('type' in key)) throw new Error('an entry, not a key');
        const { type } = key;
        return new Promise<[string, Buffer]>((done) => {
          ring.agent.sign(key, data, {}, (error, signature) =>
            error || signature === undefined ? reject(error) : done([type, signature]),
          );
        });
      });
      void Promise.all(signed).then(resolve);
    });
  });
}

describe('the keys for a host', () => {
  it.each([undefined, 'PKCS8'] as const)('sign with RSA by SHA-2 alone: format %s', async (format) => {
    const path = makeSshKey(join(folder, `rsa_${format}`), { type: 'rsa', ...(format ? { format } : {}) });
    const other = makeSshKey(join(folder, `other_${format}`));
    const pem = execFileSync('ssh-keygen', ['-e', '-m', 'PKCS8', '-f', `${path}.pub`], { encoding: 'utf8' });
    const ring = await loadKeyRing(host({ identityFiles: [path, other] }), ssh2);
    const data = Buffer.from('data');
    const signed = await signAll(ring, data);
    expect(signed.map(([algorithm]) => algorithm)).toEqual(['rsa-sha2-512', 'ssh-ed25519', 'rsa-sha2-256']);
    const by = new Map(signed);
    const holds = (hash: string, algorithm: string) =>
      verify(hash, data, createPublicKey(pem), by.get(algorithm) ?? Buffer.alloc(0));
    expect(holds('sha512', 'rsa-sha2-512')).toBe(true);
    expect(holds('sha256', 'rsa-sha2-256')).toBe(true);
  });

  it('are each there once, though several files hold the same', async () => {
    const path = makeSshKey(join(folder, 'same'));
    execFileSync('cp', [path, join(folder, 'copy')]);
    const ring = await loadKeyRing(host({ identityFiles: [path, join(folder, 'copy')] }), ssh2);
    expect(ring.names).toEqual(['same']);
  });

  it('do without an agent that does not answer', async () => {
    const socket = join(folder, 'silent');
    const server = createServer(() => {}).listen(socket);
    await once(server, 'listening');
    const path = makeSshKey(join(folder, 'own'));
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const connected = once(server, 'connection');
      const loading = loadKeyRing(host({ identityFiles: [path], identityAgent: socket }), ssh2);
      const [client] = await connected;
      await vi.advanceTimersByTimeAsync(5_000);
      expect((await loading).names).toEqual(['own']);
      client.destroy();
    } finally {
      vi.useRealTimers();
      server.close();
    }
  });
});
