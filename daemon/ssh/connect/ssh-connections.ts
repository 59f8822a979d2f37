import { CodedError } from '../../contract/errors.ts';
import type { AcceptedHostKey, AcceptHostKeyRequest } from '../../contract/ssh.ts';
import type { Clock } from '../../lib/clock.ts';
import { systemClock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import type { AcceptedHostKeys } from '../host-keys/store.ts';
import type { ResolvedHost } from '../resolved-host.ts';
import type { SshConnector, SshLease } from '../ssh-connection.ts';
import { connectHost } from './connect-host.ts';
import { OfferedHostKeys } from './offered-host-keys.ts';
import { PooledConnection } from './pooled-connection.ts';

export interface SshConnectionsOptions {
  /** What the configuration says of an alias now. @throws CodedError where there is none or it can't be used */
  readonly resolve: (alias: string) => Promise<ResolvedHost>;
  /** The keys that the user accepted here. */
  readonly hostKeys: AcceptedHostKeys;
  readonly logger: Logger;
  /** How long a connection stays open that nobody uses; default 60,000. */
  readonly idleMs?: number;
  /** Leases that share a connection before a further one is opened; default 10, OpenSSH's MaxSessions. */
  readonly leasesPerConnection?: number;
  /** Decides whether host certificates are valid, and when a key was accepted. */
  readonly clock?: Clock;
}

export interface LeaseOptions {
  /** Never a connection that is open already: for a caller whose channel was refused, see `isChannelRefused`. */
  readonly fresh?: boolean;
}

/**
 * Signed-in connections, shared by alias and closed when idle.
 *
 * A server takes no more than MaxSessions channels (10 unless its operator says otherwise) on one connection. Leases
 * beyond `leasesPerConnection` get a further connection. Where the server's limit is lower still, it refuses the
 * channel: `exec` and `sftp` call back with an error that `isChannelRefused` knows, at once; nothing waits. The caller
 * then disposes its lease and asks for one that is `fresh`.
 */
export class SshConnections implements SshConnector {
  readonly #options: Required<SshConnectionsOptions>;
  readonly #offered: OfferedHostKeys;
  /** By alias: newest last. An entry is there while it connects and until it is lost or closed. */
  readonly #pools = new Map<string, PooledConnection[]>();
  #disposed = false;

  constructor(options: SshConnectionsOptions) {
    this.#options = { idleMs: 60_000, leasesPerConnection: 10, clock: systemClock, ...options };
    this.#offered = new OfferedHostKeys(this.#options.hostKeys, this.#options.clock);
  }

  async lease(alias: string, options: LeaseOptions = {}): Promise<SshLease> {
    const host = await this.#options.resolve(alias);
    const connection = (options.fresh !== true && this.#usable(alias, host)) || this.#open(alias, host);
    return connection.lease();
  }

  /**
   * Writes down the key that the host, or a host on the way to it, offered last and that was unknown.
   *
   * @throws CodedError unknown_ssh_host; conflict: it offered no key of this fingerprint; ssh_host_key_changed,
   * ssh_host_key_revoked: what is known of the host by now forbids it
   */
  async accept(alias: string, request: AcceptHostKeyRequest): Promise<AcceptedHostKey> {
    await this.#options.resolve(alias);
    return this.#offered.accept(alias, request.hop ?? alias, request.fingerprint);
  }

  /** Closes every connection, leased or not; bounded. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposed = true;
    const open = [...this.#pools.values()].flat();
    await Promise.all(open.map((connection) => connection.close()));
  }

  #usable(alias: string, host: ResolvedHost): PooledConnection | undefined {
    const pool = this.#pools.get(alias) ?? [];
    const settings = settingsOf(host);
    for (const connection of pool) if (connection.settings !== settings) connection.retire();
    const { leasesPerConnection } = this.#options;
    return pool.find((connection) => connection.isOpen && connection.leases < leasesPerConnection);
  }

  #open(alias: string, host: ResolvedHost): PooledConnection {
    if (this.#disposed) throw new CodedError('shutting_down', 'all SSH connections are closed');
    const { idleMs, logger, clock, hostKeys } = this.#options;
    const connection = new PooledConnection({
      settings: settingsOf(host),
      idleMs,
      connect: (signal) => connectHost(host, { hostKeys, offered: this.#offered, logger, clock, signal }),
      onGone: () => this.#forget(alias, connection),
    });
    this.#pools.set(alias, [...(this.#pools.get(alias) ?? []), connection]);
    return connection;
  }

  #forget(alias: string, gone: PooledConnection): void {
    const rest = (this.#pools.get(alias) ?? []).filter((connection) => connection !== gone);
    if (rest.length > 0) this.#pools.set(alias, rest);
    else this.#pools.delete(alias);
  }
}

/** The server has as many channels on this connection as it takes, or forbids this kind. */
export function isChannelRefused(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('(SSH) Channel open failure');
}

function settingsOf(host: ResolvedHost): string {
  return JSON.stringify(host);
}
