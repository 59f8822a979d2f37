import type { SshHost } from '../../contract/ssh.ts';
import type { ResolvedHost } from '../resolved-host.ts';

export interface SshHostsOptions {
  /** Absolute path of the user's configuration; it need not be there. */
  readonly configFile: string;
  /** Read after the user's; default: the system's. Name a file that is not there to go without. */
  readonly systemConfigFile?: string;
  readonly home: string;
  /** Name of the local user. */
  readonly user: string;
  readonly environment: NodeJS.ProcessEnv;
  /** Our own known_hosts file, looked at beside the user's. */
  readonly ownKnownHosts: string;
}

/**
 * The hosts of the SSH client configuration, read as OpenSSH reads it (ssh_config(5)), but nothing is ever run: a host
 * that needs a command to be run is listed as unsupported, with the reason. Files are read when they have changed.
 */
export class SshHosts {
  constructor(_options: SshHostsOptions) {}

  /**
   * Every literal alias of a `Host` line, in the order of the files.
   *
   * @throws CodedError ssh_host_unsupported where the user's configuration is there but can't be read
   */
  async list(): Promise<SshHost[]> {
    return [];
  }

  /**
   * @throws CodedError unknown_ssh_host (no `Host` line names it literally), ssh_password_host_unsupported (no key to
   * sign in with), ssh_host_unsupported (anything else that stands against it, as the message says)
   */
  async resolve(alias: string): Promise<ResolvedHost> {
    throw new Error(alias);
  }
}
