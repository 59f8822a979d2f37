import type { Client, SFTPWrapper, Stats } from 'ssh2';
import { CodedError } from '../../contract/errors.ts';
import type { SshLease } from '../ssh-connection.ts';
import { pullEnded } from './places.ts';

export interface SftpSessionOptions {
  readonly signal?: AbortSignal | undefined;
  /** Without any reply for so long, while one is due, the session is given up. */
  readonly replyTimeoutMs: number;
}

/** What ssh2 asks for in one request; more, it would ask for bit by bit: 256 KiB, or 34,000 bytes, less 2 KiB. */
const openSshChunkBytes = 254 * 1024;
const anyChunkBytes = 31 * 1024;

type Done<T> = (error: Error | null | undefined, value: T) => void;

/** What the server says of one request: `status` is that of SSH_FXP_STATUS. */
export class SftpStatusError extends Error {
  override readonly name = 'SftpStatusError';
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/**
 * One SFTP session of a connection, with promises. Every call ends: with the reply, with an SftpStatusError, or, once the
 * session is over, with CodedError ssh_failed or ssh_timeout. ssh2 alone leaves a request without an end where it was
 * made while the channel closed, or where the server never answers.
 */
export class SftpSession implements Disposable {
  /** As much as the server gives in one reply. */
  readonly chunkBytes: number;
  readonly #signal: AbortSignal | undefined;
  readonly #replyTimeoutMs: number;
  #sftp: SFTPWrapper | undefined;
  #over: CodedError | undefined;
  #timer: NodeJS.Timeout | undefined;
  readonly #pending = new Set<(error: CodedError) => void>();
  readonly #onAbort = () => this.#end(pullEnded());

  static async open(
    { client, server }: Pick<SshLease, 'client' | 'server'>,
    options: SftpSessionOptions,
  ): Promise<SftpSession> {
    const session = new SftpSession(server, options);
    await session.#open(client);
    return session;
  }

  private constructor(server: string, { signal, replyTimeoutMs }: SftpSessionOptions) {
    this.chunkBytes = /^SSH-2\.0-(?:OpenSSH|dropbear)/.test(server) ? openSshChunkBytes : anyChunkBytes;
    this.#signal = signal;
    this.#replyTimeoutMs = replyTimeoutMs;
    if (signal?.aborted === true) this.#over = pullEnded();
    signal?.addEventListener('abort', this.#onAbort, { once: true });
  }

  /** Follows links. */
  stat(path: string): Promise<Stats> {
    return this.#call((sftp, done) => sftp.stat(path, done));
  }

  lstat(path: string): Promise<Stats> {
    return this.#call((sftp, done) => sftp.lstat(path, done));
  }

  openToRead(path: string): Promise<Buffer> {
    return this.#call((sftp, done) => sftp.open(path, 'r', done));
  }

  fstat(handle: Buffer): Promise<Stats> {
    return this.#call((sftp, done) => sftp.fstat(handle, done));
  }

  /** Bytes read, to the same place of `buffer` as in the file; may be fewer than asked for; 0 at the end of the file. */
  read(handle: Buffer, buffer: Buffer, from: number, to: number): Promise<number> {
    return this.#call((sftp, done) => sftp.read(handle, buffer, from, to - from, from, done));
  }

  /** Ends the session; the server closes what is open. */
  [Symbol.dispose](): void {
    this.#end(pullEnded());
  }

  async #open(client: Client): Promise<void> {
    // Else each request, a small packet, waits until the one before is acknowledged: it takes twice as long.
    client.setNoDelay(true);
    try {
      const opening = (done: Done<SFTPWrapper>) =>
        client.sftp((error, sftp) => {
          if (error === undefined || error === null) this.#adopt(sftp);
          done(error, sftp);
        });
      await this.#reply(opening);
    } catch (cause) {
      this[Symbol.dispose]();
      if (cause instanceof CodedError) throw cause;
      throw new CodedError('ssh_failed', 'The host did not open an SFTP session.', { cause });
    }
  }

  #adopt(sftp: SFTPWrapper): void {
    sftp.on('error', (cause: Error) => this.#end(lost(cause)));
    sftp.on('close', () => this.#end(lost()));
    this.#sftp = sftp;
    // It came too late: nobody waits for it.
    if (this.#over !== undefined) sftp.end();
  }

  async #call<T>(start: (sftp: SFTPWrapper, done: Done<T>) => void): Promise<T> {
    const sftp = this.#sftp;
    if (sftp === undefined) throw new Error('the session was never opened');
    try {
      return await this.#reply((done) => start(sftp, done));
    } catch (error) {
      if (error instanceof CodedError) throw error;
      throw statusOf(error) ?? lost(error);
    }
  }

  #reply<T>(start: (done: Done<T>) => void): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#over !== undefined) return reject(this.#over);
      this.#pending.add(reject);
      this.#watch();
      start((error, value) => {
        if (!this.#pending.delete(reject)) return;
        this.#watch();
        if (error === undefined || error === null) resolve(value);
        else reject(error);
      });
    });
  }

  /** A reply is due while there are calls; each that comes gives the next as much time. */
  #watch(): void {
    if (this.#pending.size === 0) {
      clearTimeout(this.#timer);
      this.#timer = undefined;
    } else if (this.#timer === undefined) {
      this.#timer = setTimeout(() => this.#end(silent(this.#replyTimeoutMs)), this.#replyTimeoutMs);
    } else {
      this.#timer.refresh();
    }
  }

  #end(why: CodedError): void {
    this.#signal?.removeEventListener('abort', this.#onAbort);
    clearTimeout(this.#timer);
    if (this.#over === undefined) this.#sftp?.end();
    this.#over ??= why;
    for (const reject of this.#pending) reject(this.#over);
    this.#pending.clear();
  }
}

function statusOf(error: unknown): SftpStatusError | undefined {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'number') return undefined;
  return new SftpStatusError(error.code, error.message);
}

const lost = (cause?: unknown) =>
  new CodedError('ssh_failed', 'The connection to the host was lost while the file was read.', { cause });

const silent = (timeoutMs: number) =>
  new CodedError('ssh_timeout', `The host did not answer for ${timeoutMs / 1000} seconds.`);
