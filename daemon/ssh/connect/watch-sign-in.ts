import type { Duplex } from 'node:stream';

/** More than any host has to say before a user is signed in, with a long list of keys and a long banner. */
export const maxSignInBytes = 1024 * 1024;
/** What may come before the line in which a host introduces itself. */
export const maxGreetingBytes = 64 * 1024;

export interface SignInWatch extends Disposable {
  /** Protocol and software, as the host introduced itself: `SSH-2.0-OpenSSH_9.2p1`; empty before it did. */
  readonly server: string;
}

/**
 * Counts what a host sends until disposed, so that one which never comes to the point can't go on until the timeout.
 * `stream` must be paused; it is not set going.
 */
export function watchSignIn(stream: Duplex, onFlood: (problem: string) => void): SignInWatch {
  let bytes = 0;
  let greeting = '';
  let server = '';
  const count = (chunk: Buffer) => {
    bytes += chunk.length;
    if (server === '') {
      greeting += chunk.toString('latin1');
      server = /(?:^|\n)(SSH-[^ \r\n]+)[^\n]*\n/.exec(greeting)?.[1] ?? '';
      if (server !== '') greeting = '';
      else if (bytes > maxGreetingBytes)
        flood(`does not speak SSH: ${maxGreetingBytes} bytes without a version`);
    }
    if (bytes > maxSignInBytes) flood(`sent more than ${maxSignInBytes} bytes before the sign-in`);
  };
  const flood = (problem: string) => {
    stream.off('data', count);
    onFlood(problem);
  };
  stream.on('data', count);
  return {
    get server() {
      return server;
    },
    [Symbol.dispose]: () => void stream.off('data', count),
  };
}
