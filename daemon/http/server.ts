import {
  createServer,
  type ServerOptions as HttpServerOptions,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
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

const maxFreePortTries = 20;

/**
 * Listens on 127.0.0.1, and on ::1 where the system has it, so that "localhost" can't be answered by somebody else: a
 * port that another program has on either of the two counts as taken.
 *
 * @throws the listen error, EADDRINUSE for one
 */
export async function listenOnLoopback(options: ServerOptions): Promise<LoopbackServer> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await listenOnBoth(options);
    } catch (error) {
      // A free port of 127.0.0.1 may be taken on ::1: another one is found.
      if (options.port !== 0 || tries === maxFreePortTries || !isInUse(error)) throw error;
    }
  }
}

async function listenOnBoth(options: ServerOptions): Promise<LoopbackServer> {
  const main = createGuardedServer(options);
  await listen(main, options.port, '127.0.0.1');
  const { port } = main.address() as AddressInfo;
  const servers = [main];
  const sixth = createGuardedServer({ ...options, port });
  try {
    await listen(sixth, port, '::1');
    servers.push(sixth);
  } catch (error) {
    if (isInUse(error)) {
      await closeAll(main);
      throw error;
    }
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

const flushMs = 300;

const serverOptions: HttpServerOptions = {
  // A request without Host is the guard's to refuse, like one with a foreign Host.
  requireHostHeader: false,
  requestTimeout: 30_000,
  headersTimeout: 15_000,
  keepAliveTimeout: 65_000,
  // Other upgrades (h2c, which some clients offer by themselves) are ignored, as RFC 9110 allows.
  shouldUpgradeCallback: (req) => req.headers.upgrade?.toLowerCase() === 'websocket',
};

function createGuardedServer({ version, logger, app }: ServerOptions): Server {
  const answers = new WeakMap<Duplex, ServerResponse>();
  const answer: RequestListener = (req, res) => {
    answers.set(req.socket, res);
    try {
      checkGuard(req, localPort(req));
    } catch (error) {
      res.setHeader('Tallystick-Version', version);
      sendProblem(res, error, { logger });
      return;
    }
    app(req, res);
  };
  const server = createServer(serverOptions, answer);
  // Node would answer an unknown expectation itself, past the guard; RFC 9110 allows to take no notice of it.
  server.on('checkExpectation', answer);
  server.on('upgrade', (req: IncomingMessage, socket: Duplex) => {
    endRaw(socket, upgradeRefusal(req), version);
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    const current = answers.get(socket);
    // In the middle of an answer, a second head would be taken for a part of it.
    const underWay = current?.headersSent === true && !current.writableEnded;
    if (error.code === 'ECONNRESET' || !socket.writable || underWay) socket.destroy();
    else endRaw(socket, parserRefusal(error.code), version);
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
function endRaw(socket: Duplex, error: CodedError, version: string): void {
  const problem = toProblem(error);
  const body = JSON.stringify(problem);
  socket.end(
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status] ?? ''}\r\nConnection: close\r\n` +
      `Tallystick-Version: ${version}\r\nCache-Control: no-store\r\n` +
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

function isInUse(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
}

/** What was answered last gets a moment to reach its reader. */
async function closeAll(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  await Promise.race([closed, delay(flushMs, undefined, { ref: false })]);
  server.closeAllConnections();
  await closed;
}
