import { createServer } from 'node:net';

const token = /\$FREE_PORT(?![A-Za-z0-9_])|\$\{FREE_PORT\}/g;
const bindFailure = /EADDRINUSE|address already in use|port \d+ is (?:already )?in use/i;
const maxPortsPerCommand = 3;

/** Finds a TCP port that nothing listens on now, on any address. */
export type FindPort = () => Promise<number>;

/** Ports of the commands under way: no two are given the same. */
export class PortLeases {
  readonly #leased = new Set<number>();
  readonly #find: FindPort;

  constructor(find: FindPort = findOpenPort) {
    this.#find = find;
  }

  /** A port for a command that asks for one with `$FREE_PORT` or `${FREE_PORT}`; undefined for all others. */
  async lease(cmd: string): Promise<PortLease | undefined> {
    if (cmd.search(token) < 0) return undefined;
    const lease = new PortLease(await this.take(), this);
    return lease;
  }

  async take(): Promise<number> {
    for (let attempt = 0; attempt < 20; attempt += 1) {
      const port = await this.#find();
      if (this.#leased.has(port)) continue;
      this.#leased.add(port);
      return port;
    }
    throw new Error('the system gave no free port in 20 attempts');
  }

  give(port: number): void {
    this.#leased.delete(port);
  }
}

/** The port of one command, and those it had before that turned out to be taken. */
export class PortLease {
  readonly #given: number[];
  readonly #leases: PortLeases;

  constructor(port: number, leases: PortLeases) {
    this.#given = [port];
    this.#leases = leases;
  }

  get given(): readonly number[] {
    return this.#given;
  }

  get current(): number {
    return this.#given.at(-1) ?? 0;
  }

  substitute(cmd: string): string {
    return cmd.replaceAll(token, String(this.current));
  }

  /** Whether the end of a failed command's output blames its port, and it was not run too often already. */
  isBlamed(outputTail: string): boolean {
    return this.#given.length < maxPortsPerCommand && bindFailure.test(outputTail);
  }

  /** Whether something listens on the port now. */
  async isTaken(): Promise<boolean> {
    return (await probe(this.current)) === undefined;
  }

  async renew(): Promise<void> {
    this.#given.push(await this.#leases.take());
  }

  release(): void {
    for (const port of this.#given) this.#leases.give(port);
  }
}

async function findOpenPort(): Promise<number> {
  const port = await probe(0);
  if (port === undefined) throw new Error('the system has no free port');
  return port;
}

/** Binds the port on every address, as most servers do, and gives it back at once; undefined where that fails. */
function probe(port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(undefined));
    server.listen({ port, exclusive: true }, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' ? address?.port : undefined));
    });
  });
}
