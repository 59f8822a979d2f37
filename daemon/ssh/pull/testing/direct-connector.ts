import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Client, type SFTPWrapper } from 'ssh2';
import type { ResolvedHost } from '../../resolved-host.ts';
import type { SshConnector, SshLease } from '../../ssh-connection.ts';

interface Target {
  readonly port: number;
  readonly user: string;
  readonly userKey: string;
}

/** A connector to one sshd, whatever the alias: a connection each lease. A test can step in between client and server. */
export interface DirectConnector extends SshConnector {
  /** Changes how the sessions opened from now on behave; undefined: not at all. */
  intercept: ((sftp: SFTPWrapper) => void) | undefined;
  /** Leases taken, and how many of them are in use. */
  readonly taken: number;
  readonly inUse: number;
}

export function directConnector(target: Target): DirectConnector {
  const clients = new Set<Client>();
  const counts = { taken: 0, inUse: 0 };
  const connector: DirectConnector = {
    intercept: undefined,
    get taken() {
      return counts.taken;
    },
    get inUse() {
      return counts.inUse;
    },
    async lease(alias) {
      counts.taken += 1;
      const client = await connect(target);
      clients.add(client);
      counts.inUse += 1;
      interceptSessions(client, (sftp) => connector.intercept?.(sftp));
      return leaseOf(client, alias, () => {
        counts.inUse -= 1;
        clients.delete(client);
        client.end();
      });
    },
    async [Symbol.asyncDispose]() {
      for (const client of clients) client.destroy();
    },
  };
  return connector;
}

async function connect({ port, user, userKey }: Target): Promise<Client> {
  const client = new Client();
  client.connect({ host: '127.0.0.1', port, username: user, privateKey: readFileSync(userKey) });
  await once(client, 'ready');
  client.on('error', () => undefined); // `lost` says so
  return client;
}

function interceptSessions(client: Client, intercept: (sftp: SFTPWrapper) => void): void {
  const open = client.sftp.bind(client);
  Object.assign(client, {
    sftp: (callback: (error: Error | undefined, sftp: SFTPWrapper) => void) =>
      open((error, sftp) => {
        if (error === undefined) intercept(sftp);
        callback(error, sftp);
      }),
  });
}

function leaseOf(client: Client, alias: string, end: () => void): SshLease {
  const host: ResolvedHost = {
    alias,
    hostname: '127.0.0.1',
    port: 22,
    user: 'user',
    identityFiles: [],
    identitiesOnly: true,
    identityAgent: null,
    proxyJump: [],
    knownHostsFiles: [],
    hostKeyAlias: null,
    connectTimeoutMs: 10_000,
    serverAliveIntervalMs: 0,
    serverAliveCountMax: 3,
  };
  return {
    client,
    host,
    server: 'SSH-2.0-OpenSSH_9.2p1',
    keyType: 'ssh-ed25519',
    fingerprint: 'SHA256:',
    connectedMs: 0,
    lost: new Promise((resolve) => client.once('close', () => resolve())),
    [Symbol.dispose]: end,
  };
}
