import { CodedError } from '../../contract/errors.ts';
import type { Actor } from '../../contract/receipts.ts';
import { maxPullBytes, type PulledFile, type SshPullRequest } from '../../contract/ssh.ts';
import { fromBytePath } from '../../lib/byte-path.ts';
import { hashContentInTurns } from '../../lib/content-hash.ts';
import type { Door } from '../../mutations/mutation-plan.ts';
import { isChannelRefused } from '../connect/ssh-connections.ts';
import type { SshConnector } from '../ssh-connection.ts';
import { Places, pullEnded } from './places.ts';
import { asWriteError, planPulled } from './plan-pulled.ts';
import { pulledPath } from './pulled-path.ts';
import { readRemoteFile } from './read-remote-file.ts';
import { SftpSession } from './sftp-session.ts';

export interface PullsOptions {
  readonly connections: Pick<SshConnector, 'lease'>;
  readonly door: Door;
  /** Whether a name (its bytes as a latin1 string) belongs to git or to the service, however it is spelled. */
  readonly isReservedName: (name: string) => boolean;
  /** A host that says nothing for so long is given up. */
  readonly replyTimeoutMs?: number;
}

export interface PullCall {
  readonly workspace: Parameters<Door['mutate']>[0];
  readonly actor: Actor;
  /** Ends the pull with `ssh_failed`, unless the file is being written already. */
  readonly signal?: AbortSignal;
}

/** As many files are held in memory at a time: 50 MiB each. */
const maxAtOnce = 4;
const defaultReplyTimeoutMs = 30_000;

/**
 * Copies files of remote hosts into workspaces over SFTP. Answers when the file and its receipt are durable; changes
 * nothing where it throws. The fifth pull of the daemon waits until one of four is done.
 */
export class Pulls {
  readonly #options: PullsOptions;
  readonly #places = new Places(maxAtOnce);

  constructor(options: PullsOptions) {
    this.#options = options;
  }

  /**
   * The file is `pulled/<host>/<last part of the remote path>` in the workspace; what is there is replaced. Neither its
   * executable bit nor its other permissions are taken over, and links in the workspace are not followed.
   *
   * @throws CodedError remote_name_refused, remote_file_not_found, remote_file_unreadable, remote_not_a_file,
   * file_too_large, conflict, ssh_timeout, ssh_failed; those of SshConnector.lease and of the door
   */
  async pull(call: PullCall, { host, remote_path }: SshPullRequest): Promise<PulledFile> {
    const path = pulledPath(host, remote_path, this.#options.isReservedName);
    using _place = await this.#places.take(call.signal);
    const content = await this.#read(call, host, remote_path);
    const hashed = await hashContentInTurns(content);
    if (call.signal?.aborted === true) throw pullEnded();
    const receiptId = await this.#write(call, path, { content, hashed });
    const sha256 = hashed.hash.slice('sha256:'.length);
    return { path: fromBytePath(path).path, size: content.length, sha256, receipt_id: receiptId };
  }

  async #read({ signal }: PullCall, host: string, remotePath: string): Promise<Buffer> {
    const { connections, replyTimeoutMs = defaultReplyTimeoutMs } = this.#options;
    const readWith = async (fresh: boolean) => {
      using lease = await connections.lease(host, { fresh });
      using session = await SftpSession.open(lease, { signal, replyTimeoutMs });
      return await readRemoteFile(session, remotePath, maxPullBytes);
    };
    try {
      return await readWith(false);
    } catch (error) {
      // The server lets no further session through the connection that is open.
      if (error instanceof CodedError && isChannelRefused(error.cause)) return readWith(true);
      throw error;
    }
  }

  async #write(
    { workspace, actor }: PullCall,
    path: string,
    pulled: Parameters<typeof planPulled>[2],
  ): Promise<PulledFile['receipt_id']> {
    const plan = () => planPulled(workspace.path, path, pulled);
    try {
      const request = { actor, tool: 'ssh.pull', locks: [path], plan } as const;
      const { receipt } = await this.#options.door.mutate(workspace, request);
      return receipt?.receipt_id ?? null;
    } catch (error) {
      throw asWriteError(error);
    }
  }
}
