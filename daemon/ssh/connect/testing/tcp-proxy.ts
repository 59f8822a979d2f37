import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** Forwards TCP connections to a port of this machine, until told not to. Dispose closes all of them. */
export interface TcpProxy extends AsyncDisposable {
  readonly port: number;
  /** Connections taken so far. */
  readonly connections: number;
  /** From now on nothing is forwarded in either direction on the connections there are; they stay open. */
  cut(): void;
}

export async function startTcpProxy(toPort: number): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer((near) => {
    connections += 1;
    const far = connect(toPort, '127.0.0.1');
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => {}).on('close', () => sockets.delete(socket)); // either end may vanish
    }
    near.pipe(far);
    far.pipe(near);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: portOf(server.address()),
    get connections() {
      return connections;
    },
    cut() {
      for (const socket of sockets) socket.unpipe().pause();
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** A server that does with each connection as told. Dispose closes all of them. */
export async function startTcpServer(
  serve: (socket: Socket) => void,
): Promise<AsyncDisposable & { readonly port: number }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket)); // the client may vanish
    serve(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: portOf(server.address()),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

function portOf(address: ReturnType<ReturnType<typeof createServer>['address']>): number {
  if (address === null || typeof address === 'string') throw new Error('no TCP port');
  return address.port;
}
