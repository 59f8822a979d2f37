import type { Stats } from 'ssh2';
import { CodedError } from '../../contract/errors.ts';
import { fillFromHandle, readToEnd } from './read-handle.ts';
import { type SftpSession, SftpStatusError } from './sftp-session.ts';

/**
 * The content of a regular file of the host, as it was at one moment as far as its size and time of change tell (SFTP
 * gives whole seconds). Nothing else is opened: opening a FIFO waits for its other end.
 *
 * @throws CodedError remote_file_not_found, remote_file_unreadable, remote_not_a_file, file_too_large, conflict where it
 * changes all the time; ssh_failed, ssh_timeout
 */
export async function readRemoteFile(session: SftpSession, path: string, maxBytes: number): Promise<Buffer> {
  try {
    checkStat(await session.stat(path), maxBytes);
    const handle = await session.openToRead(path);
    return await readUnchanged(session, handle, maxBytes);
  } catch (error) {
    throw error instanceof SftpStatusError ? await explain(session, path, error) : error;
  }
}

const maxTries = 2;

async function readUnchanged(session: SftpSession, handle: Buffer, maxBytes: number): Promise<Buffer> {
  let before = checkStat(await session.fstat(handle), maxBytes);
  let lastLength: number | undefined;
  for (let tries = 0; tries < maxTries; tries += 1) {
    const content = await readOnce(session, handle, before.size, maxBytes);
    if (content.length > maxBytes) throw tooLarge(maxBytes);
    const after = checkStat(await session.fstat(handle), maxBytes);
    const same = after.size === before.size && after.mtime === before.mtime;
    // Files of /sys have always less in them than they say.
    const whole = content.length === before.size || before.size === 0 || content.length === lastLength;
    if (same && whole && !(before.size > 0 && content.length > before.size)) return content;
    lastLength = content.length;
    before = after;
  }
  throw new CodedError(
    'conflict',
    'The file is being written on the host, all the time; nothing was changed here.',
  );
}

/** More is asked for than the file is said to have, to see that it ends there. */
async function readOnce(
  session: SftpSession,
  handle: Buffer,
  size: number,
  maxBytes: number,
): Promise<Buffer> {
  if (size > 0) {
    const buffer = Buffer.allocUnsafe(size + 1);
    return buffer.subarray(0, await fillFromHandle(session, handle, buffer));
  }
  // It is empty, or one of /proc that does not tell. The system gives memory only for what is written to.
  const buffer = Buffer.allocUnsafe(maxBytes + session.chunkBytes);
  return Buffer.from(buffer.subarray(0, await readToEnd(session, handle, buffer)));
}

interface RemoteStat {
  readonly size: number;
  /** Seconds. */
  readonly mtime: number | undefined;
}

/** A server may leave out what it does not know: what is not said to be a regular file is none. */
function checkStat(stats: Partial<Stats>, maxBytes: number): RemoteStat {
  const what = kindOf(stats);
  if (what !== 'a file')
    throw new CodedError('remote_not_a_file', `There is ${what} at this path of the host.`);
  const { size = 0, mtime } = stats;
  if (size > maxBytes) throw tooLarge(maxBytes);
  return { size, mtime };
}

/** By the type bits of st_mode, which are the same on every system that serves SFTP. */
const kinds: ReadonlyMap<number, string> = new Map([
  [0o010000, 'a pipe'],
  [0o020000, 'a device'],
  [0o040000, 'a folder'],
  [0o060000, 'a device'],
  [0o100000, 'a file'],
  [0o120000, 'a link'],
  [0o140000, 'a socket'],
]);

const kindOf = ({ mode = 0 }: Partial<Stats>) => kinds.get(mode & 0o170000) ?? 'something that is not a file';

const tooLarge = (maxBytes: number) =>
  new CodedError('file_too_large', `The file is over ${maxBytes / 1024 / 1024} MiB.`);

/** SSH_FXP_STATUS codes (draft-ietf-secsh-filexfer-02, section 7). */
const noSuchFile = 2;
const permissionDenied = 3;

/** OpenSSH says "no such file" of links that lead in a circle, too. */
async function explain(session: SftpSession, path: string, cause: SftpStatusError): Promise<CodedError> {
  if (cause.status === permissionDenied)
    return new CodedError('remote_file_unreadable', 'The user of the host may not read this file.', {
      cause,
    });
  if (cause.status !== noSuchFile)
    return new CodedError('remote_file_unreadable', `The host could not read this file: ${cause.message}.`, {
      cause,
    });
  if (await isLink(session, path))
    return new CodedError(
      'remote_not_a_file',
      'This path of the host is a link that leads in a circle, or to nothing.',
      {
        cause,
      },
    );
  return new CodedError('remote_file_not_found', 'There is no file at this path of the host.', { cause });
}

async function isLink(session: SftpSession, path: string): Promise<boolean> {
  try {
    return kindOf(await session.lstat(path)) === 'a link';
  } catch (error) {
    if (error instanceof SftpStatusError) return false;
    throw error;
  }
}
