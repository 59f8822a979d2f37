import type { Client, ClientChannel } from 'ssh2';
import type { JobProcess } from '../shell/job-process.ts';
import type { SshLease } from './ssh-connection.ts';

/** After SIGKILL, the server needs a moment to say so; then the channel is closed without that. */
const killedMs = 1000;

/**
 * The process group of a remote command. It is signalled over its channel, and by a `kill` of its own: OpenSSH does not
 * pass signals on for root, and other servers not at all. What has left the group is out of reach.
 */
export class RemoteGroup {
  readonly #client: Client;
  readonly #freshLease: () => Promise<SshLease>;
  readonly #channel: ClientChannel;
  readonly #closed: Promise<void>;
  readonly #pid = Promise.withResolvers<number>();
  readonly #abandoned = Promise.withResolvers<void>();
  #isClosed = false;

  /** `freshLease`: of a connection to the same host, for a server that lets no further session through this one. */
  constructor(client: Client, channel: ClientChannel, freshLease: () => Promise<SshLease>) {
    this.#client = client;
    this.#freshLease = freshLease;
    this.#channel = channel;
    this.#closed = new Promise((resolve) => channel.once('close', resolve)).then(() => {
      this.#isClosed = true;
    });
  }

  /** Resolves when all was tried, and the server has not said that the command has ended. */
  get abandoned(): Promise<void> {
    return this.#abandoned.promise;
  }

  /** Says which process leads it. */
  identify(pid: number): void {
    if (Number.isSafeInteger(pid) && pid > 1) this.#pid.resolve(pid);
  }

  /** SIGTERM, after the grace period SIGKILL, as long as anything of it holds the channel; then that is closed. */
  readonly end: JobProcess['terminate'] = async ({ graceMs, hurry }) => {
    if (this.#isClosed) return;
    const hurried = new Promise<void>((resolve) => {
      if (hurry?.aborted === true) resolve();
      else hurry?.addEventListener('abort', () => resolve(), { once: true });
    });
    this.#signal('TERM');
    await this.#closesWithin(graceMs, hurried);
    if (!this.#isClosed) {
      this.#signal('KILL');
      await this.#closesWithin(killedMs);
    }
    if (this.#isClosed) return;
    this.#channel.close();
    this.#abandoned.resolve();
  };

  #signal(name: 'TERM' | 'KILL'): void {
    passSignal(this.#channel, name);
    void this.#pid.promise.then((pid) => {
      if (!this.#isClosed) void this.#kill(`exec /bin/sh -c 'kill -${name} -${pid}'`);
    });
  }

  async #kill(line: string): Promise<void> {
    if (await runs(this.#client, line)) return;
    try {
      using lease = await this.#freshLease();
      await runs(lease.client, line);
    } catch {
      // The host can't be reached now: the signal over the channel has to do.
    }
  }

  async #closesWithin(ms: number, cut?: Promise<void>): Promise<void> {
    const late = Promise.withResolvers<void>();
    const timer = setTimeout(late.resolve, ms);
    await Promise.race([this.#closed, late.promise, ...(cut === undefined ? [] : [cut])]);
    clearTimeout(timer);
  }
}

interface SignalSender {
  readonly outgoing: { readonly id: number; readonly state: string };
  readonly _client: { readonly _protocol: { signal(channel: number, name: string): void } };
}

/** As `channel.signal`, which does nothing once our side has said that it sends no more input. */
function passSignal(channel: ClientChannel, name: string): void {
  const { outgoing, _client } = channel as unknown as SignalSender;
  if (outgoing.state !== 'open' && outgoing.state !== 'eof') return;
  try {
    _client._protocol.signal(outgoing.id, name);
  } catch {
    // The connection is gone, and the command with it as far as we can tell.
  }
}

/** Runs a line to its end; false where the server opens no session for it. */
function runs(client: Client, line: string): Promise<boolean> {
  return new Promise((resolve) => {
    try {
      client.exec(line, (error, channel) => {
        if (error !== undefined) return resolve(false);
        channel.once('close', () => resolve(true));
        channel.on('data', () => undefined).stderr.on('data', () => undefined);
      });
    } catch {
      resolve(false); // the connection is gone
    }
  });
}
