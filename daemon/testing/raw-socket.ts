import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** A connection whose every byte the test writes itself. */
export class RawSocket implements Disposable {
  readonly #socket: Socket;
  readonly #ended: Promise<unknown>;
  #received = '';

  static async open(url: string, host = '127.0.0.1'): Promise<RawSocket> {
    const socket = connect({ host, port: Number(new URL(url).port) });
    await once(socket, 'connect');
    return new RawSocket(socket);
  }

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setEncoding('latin1');
    // A daemon that cuts the connection is what many of these tests want to see.
    socket.on('error', () => undefined);
    socket.on('data', (text: string) => {
      this.#received += text;
      socket.emit('received');
    });
    this.#ended = new Promise((resolve) => socket.once('close', resolve));
  }

  /** All that came so far. */
  get received(): string {
    return this.#received;
  }

  write(text: string): void {
    this.#socket.write(text, 'latin1');
  }

  /** Says that nothing more will be written; the daemon then ends the connection, whatever it was waiting for. */
  end(): void {
    this.#socket.end();
  }

  /** Reads no more; what the daemon writes stays in the kernel's buffers, and then in its own. */
  pause(): void {
    this.#socket.pause();
  }

  /** Resolves once `text` is in what came. Rejects when the connection ends before. */
  async receive(text: string): Promise<string> {
    while (!this.#received.includes(text)) {
      const closed = await Promise.race([
        once(this.#socket, 'received').then(() => false),
        this.#ended.then(() => true),
      ]);
      if (closed && !this.#received.includes(text))
        throw new Error(`the connection ended before ${JSON.stringify(text)}: ${this.#received}`);
    }
    return this.#received;
  }

  /** All that came, once the other side has closed. */
  async toEnd(): Promise<string> {
    await this.#ended;
    return this.#received;
  }

  [Symbol.dispose](): void {
    this.#socket.destroy();
  }
}

/** Writes a request as it is and answers all that comes until the daemon closes. */
export async function exchange(url: string, text: string): Promise<string> {
  using socket = await RawSocket.open(url);
  socket.write(text);
  return await socket.toEnd();
}

/** Status code of an answer's first line; 0 where nothing came. */
export function statusOf(answer: string): number {
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 0);
}
