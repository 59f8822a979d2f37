import { LogClient } from './log-client.ts';
import type { LogSource } from './log-protocol.ts';

/**
 * The logs looked at last, so that going back to one finds it as it was. `open` makes the client where there is
 * none; the one not looked at for longest is closed when there are too many.
 */
export class LogPool {
  readonly #clients = new Map<string, LogClient>();

  open(source: LogSource): LogClient {
    const known = this.#clients.get(source.jobId);
    const client = known ?? new LogClient(source);
    this.#clients.delete(source.jobId);
    this.#clients.set(source.jobId, client);
    for (const [jobId, oldest] of this.#clients) {
      if (this.#clients.size <= maxOpenLogs) break;
      oldest.close();
      this.#clients.delete(jobId);
    }
    return client;
  }

  closeAll(): void {
    for (const client of this.#clients.values()) client.close();
    this.#clients.clear();
  }
}

const maxOpenLogs = 3;
