import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export interface Exchange {
  status: number;
  body: string;
  /** From just before the request was written. `firstFrameMs` is -1 where no data frame came. */
  firstFrameMs: number;
  totalMs: number;
}

interface Pending {
  startedMs: number;
  firstFrameMs: number;
  received: string;
  resolve(exchange: Exchange): void;
  reject(error: Error): void;
}

/**
 * One HTTP/1.1 connection, one request at a time, as thin as can be: what is measured should be the server.
 * A connection that the server closed between requests is opened again; one that it closes in mid-answer fails.
 */
export class KeepAliveConnection {
  private readonly url: URL;
  private socket: Socket | undefined;
  private pending: Pending | undefined;

  constructor(url: string) {
    this.url = new URL(url);
  }

  async send(request: Buffer): Promise<Exchange> {
    const socket = await this.open();
    return new Promise((resolve, reject) => {
      this.pending = { startedMs: performance.now(), firstFrameMs: -1, received: '', resolve, reject };
      socket.write(request);
    });
  }

  close(): void {
    this.socket?.destroy();
  }

  private async open(): Promise<Socket> {
    if (this.socket !== undefined && !this.socket.destroyed && this.socket.writable) return this.socket;
    const socket = connect(Number(this.url.port), this.url.hostname);
    await once(socket, 'connect');
    socket.setNoDelay(true);
    socket.on('data', (chunk) => this.receive(chunk));
    socket.on('error', (error) => this.pending?.reject(error));
    socket.on('close', () => this.pending?.reject(new Error('the connection closed in mid-answer')));
    this.socket = socket;
    return socket;
  }

  private receive(chunk: Buffer): void {
    const pending = this.pending;
    if (pending === undefined) return;
    pending.received += chunk.toString('latin1');
    const headEnd = pending.received.indexOf('\r\n\r\n');
    if (headEnd < 0) return;
    if (pending.firstFrameMs < 0 && pending.received.indexOf('data: ', headEnd) > 0) {
      pending.firstFrameMs = performance.now() - pending.startedMs;
    }
    const body = completeBody(pending.received, headEnd);
    if (body === undefined) return;
    this.pending = undefined;
    pending.resolve({
      status: Number(pending.received.slice(9, 12)),
      body,
      firstFrameMs: pending.firstFrameMs,
      totalMs: performance.now() - pending.startedMs,
    });
  }
}

/** Undefined while more is to come. A chunked body is given with its chunk sizes in it. */
function completeBody(received: string, headEnd: number): string | undefined {
  const body = received.slice(headEnd + 4);
  const length = /\ncontent-length: (\d+)/i.exec(received)?.[1];
  const isComplete =
    length === undefined ? /(^|\r\n)0\r\n\r\n$/.test(body.slice(-7)) : body.length >= Number(length);
  return isComplete ? body : undefined;
}

export interface RequestHead {
  method: 'GET' | 'POST' | 'PUT';
  url: string;
  key?: string | undefined;
  /** Sent as JSON. */
  body?: unknown;
  /** Sent as it is, as text. */
  text?: string;
}

/** The bytes of a request, made once so that the making is not measured. */
export function requestBytes({ method, url, key, body, text: plain }: RequestHead): Buffer {
  const { host, pathname, search } = new URL(url);
  const text = plain ?? (body === undefined ? '' : JSON.stringify(body));
  const type = plain === undefined ? 'application/json' : 'text/plain';
  const lines = [`${method} ${pathname}${search} HTTP/1.1`, `Host: ${host}`, 'Connection: keep-alive'];
  if (key !== undefined) lines.push(`Authorization: Bearer ${key}`);
  if (text !== '') lines.push(`Content-Type: ${type}`, `Content-Length: ${Buffer.byteLength(text)}`);
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${text}`);
}
