import { resolve } from 'node:path';
import type { ResolvedHost } from '../resolved-host.ts';
import type { Evaluation } from './evaluate-config.ts';
import { connectionHash, expandTilde, expandTokens, type Tokens } from './expand-tokens.ts';
import { lowercase } from './line-words.ts';
import type { Settings } from './settings.ts';

/** The machine and user that settings are resolved for. */
export interface Here {
  readonly home: string;
  readonly user: string;
  readonly uid: number | undefined;
  readonly hostname: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly platform: NodeJS.Platform;
}

export const defaultPort = 22;

const defaultSeconds = 15;
const defaultAliveCount = 3;
/** In the order in which ssh tries them; those that only ssh itself can use (XMSS, DSA) left out. */
const defaultIdentities = ['id_rsa', 'id_ecdsa', 'id_ecdsa_sk', 'id_ed25519', 'id_ed25519_sk'];
const windowsAgent = '\\\\.\\pipe\\openssh-ssh-agent';

/**
 * Fills in defaults and expands tokens; the way there is left empty.
 *
 * @throws Error where a token or variable can't be expanded, saying which
 */
export function resolveSettings(alias: string, { settings, hostname }: Evaluation, here: Here): ResolvedHost {
  const { user = here.user, port = defaultPort } = settings;
  const hostKeyAlias = settings.hostKeyAlias === undefined ? null : lowercase(settings.hostKeyAlias);
  const tokens = tokensOf({ alias, hostname, port, user, hostKeyAlias }, here);
  const path = (written: string): string =>
    resolve(here.home, expandTokens(expandTilde(written, here.home, here.user), tokens, here.environment));
  return {
    alias,
    hostname,
    port,
    user,
    identityFiles: naming('IdentityFile', () => identityFiles(settings).map(path)),
    identitiesOnly: settings.identitiesOnly ?? false,
    identityAgent: naming('IdentityAgent', () => identityAgent(settings.identityAgent, path, here)),
    proxyJump: [],
    knownHostsFiles: naming('UserKnownHostsFile', () => knownHostsFiles(settings, path, here)),
    hostKeyAlias,
    connectTimeoutMs: milliseconds(settings.connectTimeout),
    serverAliveIntervalMs: milliseconds(settings.serverAliveInterval),
    serverAliveCountMax: settings.serverAliveCountMax || defaultAliveCount,
  };
}

/** What the tokens of paths stand for. */
function tokensOf(
  host: Pick<ResolvedHost, 'alias' | 'hostname' | 'port' | 'user' | 'hostKeyAlias'>,
  here: Here,
): Tokens {
  return {
    ...hopTokens(host),
    C: connectionHash(here.hostname, host.hostname, host.port, host.user),
    d: here.home,
    i: String(here.uid ?? 0),
    L: here.hostname.split('.', 1)[0] ?? '',
    l: here.hostname,
    u: here.user,
  };
}

/** What the tokens of a ProxyJump stand for. */
export function hopTokens(
  host: Pick<ResolvedHost, 'alias' | 'hostname' | 'port' | 'user' | 'hostKeyAlias'>,
): Tokens {
  return {
    h: host.hostname,
    k: host.hostKeyAlias ?? host.alias,
    n: host.alias,
    p: String(host.port),
    r: host.user,
  };
}

function identityFiles({ identityFiles: written }: Partial<Settings>): string[] {
  if (written === undefined) return defaultIdentities.map((name) => `~/.ssh/${name}`);
  return written.map(({ path }) => path).filter((path) => !isNone(path));
}

function identityAgent(
  written: string | undefined,
  path: (written: string) => string,
  here: Here,
): string | null {
  if (written === 'none') return null;
  if (written === undefined || written === 'SSH_AUTH_SOCK') {
    const fallback = here.platform === 'win32' ? windowsAgent : null;
    return here.environment.SSH_AUTH_SOCK || fallback;
  }
  if (/^\$\w/.test(written)) return here.environment[written.slice(1)] || null;
  return written.startsWith('\\\\') ? written : path(written);
}

function knownHostsFiles(
  settings: Partial<Settings>,
  path: (written: string) => string,
  here: Here,
): string[] {
  const { userKnownHostsFiles: user = ['~/.ssh/known_hosts', '~/.ssh/known_hosts2'] } = settings;
  const { globalKnownHostsFiles: global = ['/etc/ssh/ssh_known_hosts', '/etc/ssh/ssh_known_hosts2'] } =
    settings;
  const globalPath = (file: string): string => resolve(here.home, expandTilde(file, here.home, here.user));
  return [
    ...user.filter((file) => !isNone(file)).map(path),
    ...global.filter((file) => !isNone(file)).map(globalPath),
  ];
}

/** Never without a limit: a network that is gone has to be noticed. */
function milliseconds(seconds: number | undefined): number {
  return (seconds !== undefined && seconds > 0 ? seconds : defaultSeconds) * 1000;
}

function isNone(value: string): boolean {
  return value.toLowerCase() === 'none';
}

function naming<Value>(keyword: string, expand: () => Value): Value {
  try {
    return expand();
  } catch (cause) {
    throw new Error(`${keyword}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}
