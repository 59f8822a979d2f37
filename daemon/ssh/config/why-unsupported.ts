import type { ResolvedHost } from '../resolved-host.ts';
import type { Settings } from './settings.ts';
import type { ConfigStore } from './store.ts';

export interface Obstacle {
  readonly code: 'ssh_host_unsupported' | 'ssh_password_host_unsupported';
  readonly reason: string;
}

/** What the settings themselves ask for that is not done here; null where there is nothing. */
export function whyUnsupported(settings: Readonly<Partial<Settings>>): Obstacle | null {
  const { proxyCommand = 'none', knownHostsCommand = 'none', revokedHostKeys = 'none' } = settings;
  if (!isNone(proxyCommand))
    return unsupported('ProxyCommand would have to be run; ProxyJump does without a command');
  if (!isNone(knownHostsCommand)) return unsupported('KnownHostsCommand would have to be run');
  if (!isNone(revokedHostKeys))
    return unsupported('RevokedHostKeys is not read; @revoked lines in known_hosts are');
  const { pubkeyAuthentication = true, preferredAuthentications } = settings;
  if (!pubkeyAuthentication) return noKey('PubkeyAuthentication no leaves passwords only; keys are needed');
  if (preferredAuthentications !== undefined && !preferredAuthentications.split(',').includes('publickey'))
    return noKey('PreferredAuthentications leaves publickey out; keys are needed');
  return null;
}

/** Whether there is a key to sign in with: in an agent, or in a file. */
export async function whyNoKey(
  host: ResolvedHost,
  settings: Readonly<Partial<Settings>>,
  store: Pick<ConfigStore, 'exists' | 'isSecurityKey'>,
): Promise<Obstacle | null> {
  const hasAgent = host.identityAgent !== null && (await store.exists(host.identityAgent));
  if (hasAgent && !host.identitiesOnly) return null;
  let securityKey: string | null = null;
  for (const path of host.identityFiles) {
    if (hasAgent && (await store.exists(`${path}.pub`))) return null;
    if (!(await store.exists(path))) continue;
    if (hasAgent || !(await store.isSecurityKey(path))) return null;
    securityKey ??= path;
  }
  if (securityKey !== null)
    return unsupported(`${securityKey} is kept in a security key, which only an SSH agent can use`);
  if (!isNone(settings.pkcs11Provider ?? 'none'))
    return unsupported('PKCS11Provider would have to be loaded; add its keys to an SSH agent');
  if (hasAgent)
    return noKey('IdentitiesOnly is set, but there is no identity file to choose a key of the agent by');
  const looked = host.identityFiles.length === 0 ? '' : ` (looked for ${host.identityFiles.join(', ')})`;
  return noKey(`There is no identity file${looked} and no SSH agent; passwords are not supported`);
}

function unsupported(reason: string): Obstacle {
  return { code: 'ssh_host_unsupported', reason };
}

function noKey(reason: string): Obstacle {
  return { code: 'ssh_password_host_unsupported', reason };
}

function isNone(value: string): boolean {
  return value.toLowerCase() === 'none';
}
