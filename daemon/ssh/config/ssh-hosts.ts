import { hostname } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { CodedError } from '../../contract/errors.ts';
import { maxHostLength, type SshHost } from '../../contract/ssh.ts';
import type { ResolvedHost } from '../resolved-host.ts';
import { type ConfigNode, readTree } from './config-tree.ts';
import { listAliases } from './list-aliases.ts';
import { type Resolution, resolveAlias, type Surroundings } from './resolve-alias.ts';
import type { Here } from './resolve-settings.ts';
import { ConfigStore } from './store.ts';

export interface SshHostsOptions {
  /** Absolute path of the user's configuration; it need not be there. */
  readonly configFile: string;
  /** Read after the user's; default: the system's. null: none, as `ssh -F`. */
  readonly systemConfigFile?: string | null;
  readonly home: string;
  /** Name of the local user. */
  readonly user: string;
  readonly environment: NodeJS.ProcessEnv;
}

/** Hosts worked on before others get their turn. */
const hostsInOneGo = 100;

/**
 * The hosts of the SSH client configuration, read as OpenSSH reads it (ssh_config(5)), but nothing is ever run: a host
 * that needs a command to be run is listed as unsupported, with the reason. Where ssh refuses to work at all because of
 * one wrong line, only the hosts that the line applies to are unsupported here. Files are looked at for every call, and
 * read again when they have changed.
 */
export class SshHosts {
  readonly #options: SshHostsOptions;
  readonly #store = new ConfigStore(process.getuid?.());

  constructor(options: SshHostsOptions) {
    this.#options = options;
  }

  /**
   * Every literal alias of a `Host` line, in the order of the files.
   *
   * @throws CodedError ssh_host_unsupported where the user's configuration is there but can't be read
   */
  async list(): Promise<SshHost[]> {
    const surroundings = { ...(await this.#surroundings()), store: rememberingKeys(this.#store) };
    const hosts: SshHost[] = [];
    let done = 0;
    for (const alias of listAliases(surroundings.roots)) {
      if (++done % hostsInOneGo === 0) await setImmediate();
      const resolution = await resolveAlias(alias, surroundings);
      // A Host line below another one, in an included file, may never apply.
      if (resolution.isLiteral) hosts.push(describe(alias, resolution));
    }
    return hosts;
  }

  /**
   * @throws CodedError unknown_ssh_host (no `Host` line names it literally), ssh_password_host_unsupported (no key to
   * sign in with), ssh_host_unsupported (anything else that stands against it, as the message says)
   */
  async resolve(alias: string): Promise<ResolvedHost> {
    const { isLiteral, result } = await resolveAlias(alias, await this.#surroundings());
    if (!isLiteral) throw new CodedError('unknown_ssh_host', `The SSH configuration has no host ${alias}`);
    if ('code' in result) throw new CodedError(result.code, result.reason);
    return result;
  }

  async #surroundings(): Promise<Surroundings> {
    const { configFile, home, environment } = this.#options;
    const { systemConfigFile = defaultSystemFile(environment) } = this.#options;
    const own = configFile === join(home, '.ssh', 'config');
    const roots: ConfigNode[] = [];
    const user = await readTree({ path: configFile, isUser: true, home, mustBePrivate: own }, this.#store);
    if (user !== null && user.problem !== null && user.file.sections.length === 0)
      throw new CodedError('ssh_host_unsupported', user.problem);
    if (user !== null) roots.push(user);
    const system =
      systemConfigFile === null
        ? null
        : await readTree({ path: systemConfigFile, isUser: false, home, mustBePrivate: false }, this.#store);
    // As ssh does, which passes over the system's configuration where it can't read it.
    if (system !== null && system.problem === null) roots.push(system);
    return { roots, here: this.#here(), store: this.#store };
  }

  #here(): Here {
    const { home, user, environment } = this.#options;
    const { platform } = process;
    return {
      home,
      user,
      environment,
      platform,
      uid: process.getuid?.(),
      hostname: hostname(),
    };
  }
}

function describe(host: string, { host: { user, hostname, port }, way, result }: Resolution): SshHost {
  const isNamable = !/\s/.test(host) && host.length <= maxHostLength;
  const obstacle = 'code' in result ? result.reason : null;
  const reason = isNamable ? obstacle : 'Its name has white space or is too long';
  return { host, user, hostname, port, proxy_jump: [...way], supported: reason === null, reason };
}

/** Hosts share their keys: each is looked for once in a listing. */
function rememberingKeys(store: ConfigStore): Surroundings['store'] {
  const exists = new Map<string, Promise<boolean>>();
  return {
    exists: (path) => {
      const known = exists.get(path) ?? store.exists(path);
      exists.set(path, known);
      return known;
    },
    isSecurityKey: (path) => store.isSecurityKey(path),
  };
}

function defaultSystemFile({ ProgramData = 'C:\\ProgramData' }: NodeJS.ProcessEnv): string {
  return process.platform === 'win32' ? join(ProgramData, 'ssh', 'ssh_config') : '/etc/ssh/ssh_config';
}
