import {
  createServer,
  type ServerOptions as HttpServerOptions,
  type IncomingMessage,
  type RequestListener,
  type Server,
  STATUS_CODES,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { ErrorCode } from '../contract/errors.ts';
import { CodedError } from '../contract/errors.ts';
import type { Logger } from '../lib/logger.ts';
import { sendProblem, toProblem } from './errors.ts';
import { checkGuard } from './guard.ts';

export interface ServerOptions {
  /** 0 picks a free port. */
  readonly port: number;
  readonly version: string;
  readonly logger: Logger;
  readonly app: RequestListener;
}

export interface LoopbackServer extends AsyncDisposable {
  readonly port: number;
  readonly url: string;
  /** Stops accepting; open connections go on until they are done or the server is disposed. */
  stopAccepting(): void;
}

/**
 * Listens on 127.0.0.1, and on ::1 where that can be had, so that "localhost" can't be answered by somebody else.
 *
 * @throws the listen error of 127.0.0.1, EADDRINUSE for one
 */
export async function listenOnLoopback(options: ServerOptions): Promise<LoopbackServer> {
  const main = createGuardedServer(options);
  await listen(main, options.port, '127.0.0.1');
  const { port } = main.address() as AddressInfo;
  const servers = [main];
  const sixth = createGuardedServer({ ...options, port });
  try {
    await listen(sixth, port, '::1');
    servers.push(sixth);
  } catch (error) {
    options.logger.debug({ err: error }, 'not listening on ::1');
  }
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    stopAccepting: () => {
      for (const server of servers) server.close();
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all(servers.map(closeAll));
    },
  };
}

const serverOptions: HttpServerOptions = {
  requestTimeout: 30_000,
  headersTimeout: 15_000,
  keepAliveTimeout: 65_000,
  // Other upgrades (h2c, which some clients offer by themselves) are ignored, as RFC 9110 allows.
  shouldUpgradeCallback: (req) => req.headers.upgrade?.toLowerCase() === 'websocket',
};

function createGuardedServer({ version, logger, app }: ServerOptions): Server {
  const server = createServer(serverOptions, (req, res) => {
    res.setHeader('Tallystick-Version', version);
    try {
      checkGuard(req, localPort(req));
    } catch (error) {
      sendProblem(res, error, logger);
      return;
    }
    app(req, res);
  });
  server.on('upgrade', (req: IncomingMessage, socket: Duplex) => {
    endRaw(socket, upgradeRefusal(req));
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    if (error.code === 'ECONNRESET' || !socket.writable) socket.destroy();
    else endRaw(socket, parserRefusal(error.code));
  });
  return server;
}

function localPort(req: IncomingMessage): number {
  return req.socket.localPort ?? 0;
}

function upgradeRefusal(req: IncomingMessage): CodedError {
  try {
    checkGuard(req, localPort(req));
  } catch (error) {
    if (error instanceof CodedError) return error;
    throw error;
  }
  return new CodedError('not_found', 'There is no WebSocket here.');
}

function parserRefusal(code: string | undefined): CodedError {
  if (code === 'HPE_HEADER_OVERFLOW')
    return new CodedError('headers_too_large', 'The request headers are too large.');
  return new CodedError('bad_request', 'The request is not valid HTTP.');
}

/** Answers where there is no response object: refused upgrades and what the HTTP parser gave up on. */
function endRaw(socket: Duplex, error: CodedError & { code: ErrorCode }): void {
  const problem = toProblem(error);
  const body = JSON.stringify(problem);
  socket.end(
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status] ?? ''}\r\nConnection: close\r\n` +
      `Content-Type: application/problem+json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
  socket.once('finish', () => socket.destroy());
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, host, exclusive: true }, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function closeAll(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
