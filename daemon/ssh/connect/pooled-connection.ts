import type { SshLease } from '../ssh-connection.ts';
import type { OpenConnection } from './open-connection.ts';

export interface PooledConnectionOptions {
  /** Of the host, as a whole: another value is another connection. */
  readonly settings: string;
  readonly idleMs: number;
  readonly connect: (signal: AbortSignal) => Promise<OpenConnection>;
  /** Called once: connecting failed, or the connection is lost or closed. */
  readonly onGone: () => void;
}

/** A connection that is being made or is there, with the number of its leases. */
export class PooledConnection {
  readonly settings: string;
  readonly #idleMs: number;
  readonly #connection: Promise<OpenConnection>;
  readonly #abort = new AbortController();
  readonly #onGone: () => void;
  #leases = 0;
  #state: 'open' | 'retired' | 'gone' = 'open';
  #idle: NodeJS.Timeout | undefined;

  constructor(options: PooledConnectionOptions) {
    this.settings = options.settings;
    this.#idleMs = options.idleMs;
    this.#onGone = options.onGone;
    this.#connection = options.connect(this.#abort.signal);
    this.#connection.then(
      (connection) => connection.lost.then(() => this.#gone()),
      () => this.#gone(), // Whoever waits for the lease gets the failure.
    );
  }

  /** Another lease may share it. */
  get isOpen(): boolean {
    return this.#state === 'open';
  }

  get leases(): number {
    return this.#leases;
  }

  async lease(): Promise<SshLease> {
    this.#leases += 1;
    clearTimeout(this.#idle);
    try {
      const { client, host, server, keyType, fingerprint, connectedMs, lost } = await this.#connection;
      let held = true;
      const give = () => {
        if (held) this.#giveBack();
        held = false;
      };
      return { client, host, server, keyType, fingerprint, connectedMs, lost, [Symbol.dispose]: give };
    } catch (error) {
      this.#giveBack();
      throw error;
    }
  }

  /** Gets no further lease and is closed with the last one that it has. */
  retire(): void {
    if (this.#state === 'open') this.#state = 'retired';
    if (this.#leases === 0) void this.close();
  }

  /** Ends it, leased or not; resolves when the socket is closed, a second later at the most. */
  async close(): Promise<void> {
    this.#gone();
    this.#abort.abort();
    try {
      await (await this.#connection).close();
    } catch {
      // It was never there: whoever asked for it has the failure.
    }
  }

  #giveBack(): void {
    this.#leases -= 1;
    if (this.#leases > 0 || this.#state === 'gone') return;
    if (this.#state === 'retired') void this.close();
    else this.#idle = setTimeout(() => void this.close(), this.#idleMs).unref();
  }

  #gone(): void {
    if (this.#state === 'gone') return;
    this.#state = 'gone';
    clearTimeout(this.#idle);
    this.#onGone();
  }
}
