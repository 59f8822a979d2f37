import { memoryLog } from '../../../testing/memory-log.ts';
import type { Sshd } from '../../../testing/sshd.ts';
import { AcceptedHostKeys } from '../../host-keys/store.ts';
import type { ResolvedHost } from '../../resolved-host.ts';
import { SshConnections, type SshConnectionsOptions } from '../ssh-connections.ts';

/** As the configuration would say it of `sshd`, with the keys made there and its host keys known. */
export function hostOf(sshd: Sshd, changes: Partial<ResolvedHost> = {}): ResolvedHost {
  return {
    alias: 'box',
    hostname: sshd.host,
    port: sshd.port,
    user: sshd.user,
    identityFiles: [sshd.userKey],
    identitiesOnly: true,
    identityAgent: null,
    proxyJump: [],
    knownHostsFiles: [`${sshd.folder}/known_hosts`],
    hostKeyAlias: null,
    connectTimeoutMs: 10_000,
    serverAliveIntervalMs: 0,
    serverAliveCountMax: 3,
    ...changes,
  };
}

/** Connections to these hosts by their aliases; keys are accepted into `<folder>/accepted_hosts`. */
export function connectionsTo(
  folder: string,
  hosts: readonly ResolvedHost[] | ((alias: string) => Promise<ResolvedHost>),
  options: Partial<SshConnectionsOptions> = {},
): SshConnections {
  const find = async (alias: string) => {
    if (typeof hosts === 'function') return hosts(alias);
    const host = hosts.find((candidate) => candidate.alias === alias);
    if (host === undefined) throw new Error(`the test has no host ${alias}`);
    return host;
  };
  const hostKeys = new AcceptedHostKeys(`${folder}/accepted_hosts`);
  return new SshConnections({ resolve: find, hostKeys, logger: memoryLog().logger, ...options });
}

/** The error of a promise that must fail. */
export async function failureOf(
  promise: Promise<unknown>,
): Promise<Error & { code?: unknown; members?: unknown }> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof Error) return error;
    throw error;
  }
  throw new Error('it did not fail');
}
