import type { SshLease } from '../ssh-connection.ts';

/** A signed-in connection, with the connections to the hosts on the way that carry it. */
export interface OpenConnection extends Omit<SshLease, typeof Symbol.dispose> {
  /** Ends it and what carries it; resolves when the socket is closed, a second later at the most. */
  close(): Promise<void>;
}
