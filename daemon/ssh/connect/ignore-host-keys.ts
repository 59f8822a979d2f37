import type { Client } from 'ssh2';

const announcement = 'hostkeys-00@openssh.com';

/**
 * Keeps ssh2 from answering when a host tells, once the user is in, what other keys it has. ssh2 would ask the host to
 * sign with each of them, a round trip and much arithmetic at the begin of every connection, for an event that nobody
 * here listens to; and it would end the connection over a key of a type that it does not know. To be called right after
 * `client.connect`. Where ssh2 is not as this code knows it, it stays as it is.
 */
export function ignoreHostKeys(client: Client): void {
  const handlers = fieldOf(fieldOf(client, '_protocol'), '_handlers');
  const handle = fieldOf(handlers, 'GLOBAL_REQUEST');
  if (typeof handlers !== 'object' || handlers === null || typeof handle !== 'function') return;
  Reflect.set(
    handlers,
    'GLOBAL_REQUEST',
    (protocol: unknown, name: unknown, wantReply: unknown, data: unknown) => {
      if (name === announcement && wantReply === false) return;
      Reflect.apply(handle, handlers, [protocol, name, wantReply, data]);
    },
  );
}

export function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}
