import type { Duplex } from 'node:stream';
import type { Client, ConnectConfig } from 'ssh2';
import { CodedError } from '../../contract/errors.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import type { HostTrust } from '../host-keys/host-trust.ts';
import type { ResolvedHost } from '../resolved-host.ts';
import { allowedAlgorithms } from './algorithms.ts';
import { offerCertificates } from './certificate-exchange.ts';
import { abortedAt, nameOfHost } from './dial.ts';
import { HostVerifier } from './host-verifier.ts';
import { keepAliveOf } from './keep-alive.ts';
import type { KeyRing } from './key-ring.ts';
import type { Ssh2 } from './load-ssh2.ts';
import { SignInAttempt } from './sign-in-attempt.ts';
import { watchSignIn } from './watch-sign-in.ts';

export interface SignInOptions {
  readonly ssh2: Ssh2;
  readonly trust: HostTrust;
  readonly keys: KeyRing;
  readonly logger: Logger;
  readonly clock: Clock;
  /** Ends it: the connect timeout, or nobody wants the connection any more. */
  readonly signal: AbortSignal;
  /** Called with an unknown key, which the user may accept. */
  readonly onUnknownKey: (key: Buffer) => void;
}

export interface SignedIn {
  readonly client: Client;
  readonly server: string;
  /** The host's key, without the certificate around it. */
  readonly key: Buffer;
  /** Resolves when the connection is gone, whoever ended it. */
  readonly lost: Promise<void>;
  /** Takes leave; resolves when the connection is gone, after `limitMs` at the latest. */
  close(limitMs: number): Promise<void>;
}

/**
 * Verifies the host and signs in over `stream`, of which it is the owner from then on: on a failure it is destroyed.
 *
 * @throws CodedError ssh_host_key_unknown, ssh_host_key_changed, ssh_host_key_revoked, ssh_connect_failed,
 * ssh_auth_failed, ssh_password_host_unsupported, ssh_timeout
 */
export async function signIn(stream: Duplex, host: ResolvedHost, options: SignInOptions): Promise<SignedIn> {
  const { ssh2, trust, keys, logger, clock, signal } = options;
  const client = new ssh2.Client();
  const attempt = new SignInAttempt(host, keys);
  const verifier = new HostVerifier({ trust, attempt, clock, onUnknownKey: options.onUnknownKey });
  const ready = Promise.withResolvers<void>();
  ready.promise.catch(() => {}); // It may fail before, or long after, anyone waits for it.
  const lost = Promise.withResolvers<void>();
  const end = (error?: unknown) => {
    ready.reject(attempt.failureOf(error));
    stream.destroy();
    lost.resolve();
  };
  const aborted = () => abortedAt(host, attempt.isSigningIn ? 'the sign-in' : 'the key exchange', signal);
  const abort = () => end(aborted());
  client
    .on('handshake', () => attempt.begin())
    .on('ready', () => ready.resolve())
    .on('error', (error) => {
      // A key that can't be signed with is passed over: ssh2 goes on with the next.
      if ('level' in error && error.level === 'agent')
        logger.debug({ err: error, host: host.alias }, 'ssh key not used');
      else end(error);
    })
    .on('end', () => end())
    .on('close', () => end());
  signal.addEventListener('abort', abort, { once: true });
  try {
    if (signal.aborted) throw aborted();
    client.connect(connectConfig(stream, host, { trust, attempt, verifier }));
    if (trust.certificateAlgorithms.length > 0)
      verifier.certificates = offerCertificates(client, trust.certificateAlgorithms);
    using watch = watchSignIn(stream, (problem) =>
      end(new CodedError('ssh_connect_failed', `${nameOfHost(host)} ${problem}`)),
    );
    await ready.promise;
    const close = (limitMs: number) => takeLeave(client, { lost: lost.promise, end, limitMs });
    return { client, server: watch.server, key: verifier.trustedKey, lost: lost.promise, close };
  } catch (error) {
    end(error);
    throw attempt.failureOf(error);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

async function takeLeave(
  client: Client,
  { lost, end, limitMs }: { lost: Promise<void>; end: () => void; limitMs: number },
): Promise<void> {
  const timer = setTimeout(end, limitMs);
  try {
    client.end();
  } catch {
    end(); // ssh2 can't write to a connection that failed.
  }
  await lost;
  clearTimeout(timer);
}

function connectConfig(
  stream: Duplex,
  host: ResolvedHost,
  { trust, attempt, verifier }: { trust: HostTrust; attempt: SignInAttempt; verifier: HostVerifier },
): ConnectConfig {
  return {
    sock: stream,
    username: host.user,
    algorithms: { ...allowedAlgorithms(), serverHostKey: trust.keyAlgorithms },
    hostVerifier: (key: Buffer) => verifier.verify(key),
    // ssh2 takes what is returned; its types know the callback only, which can't say that there is no more to try.
    authHandler: (methods) => attempt.next(methods),
    readyTimeout: 0, // The signal bounds it all.
    ...keepAliveOf(host),
  };
}
