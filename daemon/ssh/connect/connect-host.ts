import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import { HostTrust } from '../host-keys/host-trust.ts';
import { fingerprintOf, keyTypeOf } from '../host-keys/key-blob.ts';
import { type AcceptedHostKeys, readKnownHosts } from '../host-keys/store.ts';
import type { ResolvedHost } from '../resolved-host.ts';
import { dial, dialThrough } from './dial.ts';
import { loadKeyRing } from './key-ring.ts';
import { loadSsh2 } from './load-ssh2.ts';
import type { OfferedHostKeys } from './offered-host-keys.ts';
import type { OpenConnection } from './open-connection.ts';
import { type SignedIn, signIn } from './sign-in.ts';

export interface ConnectHostOptions {
  readonly hostKeys: AcceptedHostKeys;
  readonly offered: OfferedHostKeys;
  readonly logger: Logger;
  readonly clock: Clock;
  /** Nobody wants the connection any more. */
  readonly signal: AbortSignal;
}

interface Hop {
  readonly host: ResolvedHost;
  readonly connection: SignedIn;
}

/** How long a host may take to answer our good-bye. */
const closeTimeoutMs = 1_000;

/**
 * A new connection, by way of the hosts before it, each of which is verified and signed in to as the last one is. Each
 * has its own ConnectTimeout for all of that.
 *
 * @throws CodedError as `SshConnector.lease` does for what goes wrong on the way
 */
export async function connectHost(host: ResolvedHost, options: ConnectHostOptions): Promise<OpenConnection> {
  const startedMs = performance.now();
  const way: Hop[] = [];
  try {
    for (const hop of [...host.proxyJump, host]) {
      way.push({
        host: hop,
        connection: await connectHop(hop, { alias: host.alias, before: way.at(-1), ...options }),
      });
    }
  } catch (error) {
    await close(way);
    throw error;
  }
  const connectedMs = performance.now() - startedMs;
  const connection = way.at(-1)?.connection;
  if (connection === undefined) throw new Error('a way without an end');
  const { client, server, key } = connection;
  const lost = Promise.race(way.map((hop) => hop.connection.lost));
  void lost.then(() => close(way)); // A part of the way that is left serves nobody.
  options.logger.debug({ host: host.alias, server, connectedMs }, 'ssh connected');
  return {
    client,
    host,
    server,
    keyType: keyTypeOf(key),
    fingerprint: fingerprintOf(key),
    connectedMs,
    lost,
    close: () => close(way),
  };
}

async function connectHop(
  host: ResolvedHost,
  options: ConnectHostOptions & { alias: string; before: Hop | undefined },
): Promise<SignedIn> {
  const { alias, before, hostKeys, offered, logger, clock } = options;
  const signal = AbortSignal.any([options.signal, AbortSignal.timeout(host.connectTimeoutMs)]);
  const ssh2 = await loadSsh2();
  const [theirs, ours, keys] = await Promise.all([
    readKnownHosts(host.knownHostsFiles),
    hostKeys.read(),
    loadKeyRing(host, ssh2),
  ]);
  const stream =
    before === undefined
      ? await dial(host, signal)
      : await dialThrough(before.connection.client, { from: before.host, to: host, signal });
  const trust = new HostTrust(alias, host, { theirs, ours });
  const onUnknownKey = (key: Buffer) => offered.remember(alias, host, key);
  return signIn(stream, host, { ssh2, trust, keys, logger, clock, signal, onUnknownKey });
}

/** From the far end: each takes its leave while what carries it is still there. */
async function close(way: readonly Hop[]): Promise<void> {
  for (const { connection } of way.toReversed()) await connection.close(closeTimeoutMs);
}
