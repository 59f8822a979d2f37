import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Client } from 'ssh2';
import { CodedError } from '../../contract/errors.ts';
import type { ResolvedHost } from '../resolved-host.ts';

/** A TCP connection to the host. @throws CodedError ssh_connect_failed, ssh_timeout */
export async function dial(host: ResolvedHost, signal: AbortSignal): Promise<Socket> {
  // Small packets, as keystrokes and acknowledgements are, must not wait for one another.
  const socket = connect({ host: host.hostname, port: host.port, noDelay: true, keepAlive: true });
  try {
    await once(socket, 'connect', { signal });
    return socket;
  } catch (error) {
    socket.on('error', () => {}).destroy(); // What it still says is of no interest.
    if (signal.aborted) throw abortedAt(host, 'the connection', signal);
    const code = codeOf(error);
    if (code === 'ETIMEDOUT') throw timeoutOf(host, 'the connection');
    throw new CodedError('ssh_connect_failed', `${nameOfHost(host)} can not be reached: ${code}`, {
      cause: error,
    });
  }
}

/** The same from another host. @throws CodedError ssh_connect_failed, ssh_timeout */
export async function dialThrough(
  client: Client,
  { from, to, signal }: { from: ResolvedHost; to: ResolvedHost; signal: AbortSignal },
): Promise<Duplex> {
  const opened = Promise.withResolvers<Duplex>();
  const abort = () => opened.reject(abortedAt(to, `the connection from ${from.alias}`, signal));
  signal.addEventListener('abort', abort, { once: true });
  try {
    client.forwardOut('127.0.0.1', 0, to.hostname, to.port, (error, channel) => {
      if (error) opened.reject(error);
      else opened.resolve(channel);
    });
    return await opened.promise;
  } catch (error) {
    if (error instanceof CodedError) throw error;
    const detail = `${nameOfHost(to)} can not be reached from ${from.alias}: ${codeOf(error)}`;
    throw new CodedError('ssh_connect_failed', detail, { cause: error });
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

export function nameOfHost({ alias, hostname, port }: ResolvedHost): string {
  return `${alias} (${hostname}, port ${port})`;
}

/** What to call it that `signal` ended an attempt: its time is over, or all connections are being closed. */
export function abortedAt(host: ResolvedHost, what: string, signal: AbortSignal): CodedError {
  const isTimeout = signal.reason instanceof Error && signal.reason.name === 'TimeoutError';
  if (isTimeout) return timeoutOf(host, what);
  return new CodedError(
    'shutting_down',
    `${nameOfHost(host)} is no longer connected to: all connections close`,
  );
}

function timeoutOf(host: ResolvedHost, what: string): CodedError {
  const seconds = host.connectTimeoutMs / 1000;
  return new CodedError('ssh_timeout', `${nameOfHost(host)} did not complete ${what} within ${seconds} s`);
}

/** Several addresses fail with several errors, of which Node's first is as good as any. */
function codeOf(error: unknown): string {
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') return error.code;
  return error instanceof Error ? error.message : String(error);
}
