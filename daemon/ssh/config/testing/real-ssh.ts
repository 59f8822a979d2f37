import { spawnSync } from 'node:child_process';
import { userInfo } from 'node:os';
import { resolve } from 'node:path';
import type { ResolvedHost } from '../../resolved-host.ts';

/** What the real ssh makes of a configuration, in the terms of ResolvedHost; the oracle of the tests beside. */
export interface RealSsh {
  readonly configFile: string;
  /** Stands in for the home folder of the user, which ssh takes from the list of users. */
  readonly home: string;
  readonly environment: NodeJS.ProcessEnv;
}

/** Why ssh refuses the configuration or the host, or what it would do, apart from commands it would run. */
export type RealAnswer =
  | { readonly refused: string }
  /** It would run a command, or go round in a circle. */
  | { readonly cantBe: string }
  /** The host and before it the hosts on the way, first hop first. */
  | { readonly hosts: readonly RealHost[] };

export type RealHost = Omit<ResolvedHost, 'proxyJump'>;

class Refused extends Error {}
class CantBe extends Error {}

/** Hosts that ssh would be started for one in another. */
const maxHosts = 9;

let calls = 0;

/** How often ssh has been asked. */
export function sshCalls(): number {
  return calls;
}

export function askRealSsh(ssh: RealSsh, alias: string): RealAnswer {
  try {
    const hosts = hostsTo(ssh, alias, { flags: [], deep: 1 });
    // ssh itself would go by the same host twice, where one line names it so.
    const places = new Set(hosts.map((host) => `${host.user}@${host.alias}:${host.port}`));
    return places.size < hosts.length ? { cantBe: 'a host stands twice on the way' } : { hosts };
  } catch (error) {
    if (error instanceof Refused) return { refused: error.message };
    if (error instanceof CantBe) return { cantBe: error.message };
    throw error;
  }
}

/** Follows ProxyJump the way ssh does: it starts `ssh -J <all but the last> <the last>`. */
function hostsTo(
  ssh: RealSsh,
  alias: string,
  { flags, deep }: { flags: string[]; deep: number },
): RealHost[] {
  const printed = print(ssh, alias, flags);
  const [proxyCommand] = printed.get('proxycommand') ?? [];
  if (proxyCommand !== undefined) throw new CantBe(proxyCommand);
  if (deep > maxHosts) throw new CantBe('too many hosts on the way');
  const host = toHost(ssh, alias, { printed, flags });
  const [spec] = printed.get('proxyjump') ?? [];
  if (spec === undefined) return [host];
  const hops = spec.split(',');
  const match = /^(?:(.*)@)?(\[[^\]]*\]|[^:@]*)(?::(\d+))?$/.exec(hops.pop() ?? '');
  const [, user, hop = '', port] = match ?? [];
  const hopFlags = [
    ...(user === undefined ? [] : ['-l', user]),
    ...(port === undefined ? [] : ['-p', port]),
    ...(hops.length === 0 ? [] : ['-J', hops.join(',')]),
  ];
  return [...hostsTo(ssh, hop.replace(/^\[(.*)\]$/, '$1'), { flags: hopFlags, deep: deep + 1 }), host];
}

function toHost(
  ssh: RealSsh,
  alias: string,
  { printed, flags }: { printed: Printed; flags: string[] },
): RealHost {
  const one = (keyword: string): string => printed.get(keyword)?.[0] ?? '';
  const seconds = (keyword: string): number => (Number(one(keyword)) > 0 ? Number(one(keyword)) : 15) * 1000;
  const files = (keyword: string): string[] =>
    one(keyword)
      .split(' ')
      .filter((file) => file !== '' && file !== 'none');
  const agent = one('identityagent') || 'SSH_AUTH_SOCK';
  const variable = agent.startsWith('$') ? agent.slice(1) : 'SSH_AUTH_SOCK';
  const isVariable = agent.startsWith('$') || agent === 'SSH_AUTH_SOCK';
  const named = agent === 'none' ? null : resolve(ssh.home, agent);
  return {
    alias,
    hostname: one('hostname'),
    port: Number(one('port')),
    user: one('user'),
    identityFiles: expandedIdentities(ssh, alias, { printed, flags }),
    identitiesOnly: one('identitiesonly') === 'yes',
    identityAgent: isVariable ? (ssh.environment[variable] ?? null) : named,
    knownHostsFiles: [
      ...files('userknownhostsfile').map((file) => resolve(ssh.home, file)),
      ...files('globalknownhostsfile').map((file) => resolve(ssh.home, file.replace(/^~/, ssh.home))),
    ],
    hostKeyAlias: one('hostkeyalias') || null,
    connectTimeoutMs: seconds('connecttimeout'),
    serverAliveIntervalMs: seconds('serveraliveinterval'),
    serverAliveCountMax: Number(one('serveralivecountmax')) || 3,
  };
}

/** ssh -G prints identity files as they are written, but expands known_hosts files by the same rules. */
function expandedIdentities(
  ssh: RealSsh,
  alias: string,
  { printed, flags }: { printed: Printed; flags: string[] },
): string[] {
  const ours = (printed.get('identityfile') ?? []).filter(
    // ssh2 can't use these two.
    (file) => file !== 'none' && !/^~\/\.ssh\/id_(xmss|dsa)$/.test(file),
  );
  return ours.map((file) => {
    if (!/[%$]/.test(file)) return resolve(ssh.home, file.replace(/^~/, ssh.home));
    const quoted = `"${file.replace(/["\\]/g, '\\$&')}"`;
    const expanded = print(ssh, alias, [...flags, '-o', `UserKnownHostsFile=${quoted}`]).get(
      'userknownhostsfile',
    );
    return resolve(ssh.home, expanded?.[0] ?? '');
  });
}

type Printed = ReadonlyMap<string, readonly string[]>;

function print({ configFile, home, environment }: RealSsh, alias: string, flags: string[]): Printed {
  calls++;
  const args = ['-G', '-F', configFile, ...flags, '--', alias];
  const { status, stdout, stderr, error } = spawnSync('ssh', args, {
    encoding: 'utf8',
    env: { ...environment, PATH: process.env.PATH, HOME: home },
  });
  if (error !== undefined) throw error;
  if (status !== 0) throw new Refused(stderr.trim());
  const printed = new Map<string, string[]>();
  for (const line of stdout.replaceAll(`${userInfo().homedir}/`, `${home}/`).split('\n')) {
    const [keyword = '', ...rest] = line.split(' ');
    printed.set(keyword, [...(printed.get(keyword) ?? []), rest.join(' ')]);
  }
  return printed;
}
