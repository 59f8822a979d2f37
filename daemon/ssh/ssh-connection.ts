import type { Client } from 'ssh2';
import type { ResolvedHost } from './resolved-host.ts';

/** A use of a pooled connection, which stays open until all of them are disposed and some time after. */
export interface SshLease extends Disposable {
  /** Signed in. */
  readonly client: Client;
  readonly host: ResolvedHost;
  /** What the server says it is: `SSH-2.0-OpenSSH_9.2p1`. */
  readonly server: string;
  readonly keyType: string;
  /** As `ssh-keygen -lf` prints it. */
  readonly fingerprint: string;
  /** Milliseconds that connecting and signing in took. */
  readonly connectedMs: number;
  /** Resolves when the connection is gone, whoever ended it. */
  readonly lost: Promise<void>;
}

export interface LeaseOptions {
  /** Never a connection that is open already. */
  readonly fresh?: boolean;
}

export interface SshConnector extends AsyncDisposable {
  /**
   * A connection to an alias of the configuration: one that is open, or a new one. Where the server refuses a further
   * channel on it (`isChannelRefused`), ask for a fresh one.
   *
   * @throws CodedError unknown_ssh_host, ssh_password_host_unsupported, ssh_host_unsupported, ssh_host_key_unknown,
   * ssh_host_key_changed, ssh_host_key_revoked (members: SshHostKey), ssh_connect_failed, ssh_auth_failed, ssh_timeout
   */
  lease(alias: string, options?: LeaseOptions): Promise<SshLease>;
}
