import type { SftpSession } from './sftp-session.ts';

/** Twice what fits into ssh2's window, 2 MiB: the next requests are there when a reply is done. */
const maxBytesUnderWay = 4 * 1024 * 1024;

/**
 * Fills `buffer` from the beginning of a remote file, with many requests under way at a time. Answers how many bytes there
 * were: fewer than the buffer's where the file ends before.
 */
export async function fillFromHandle(session: SftpSession, handle: Buffer, buffer: Buffer): Promise<number> {
  let next = 0;
  let end = buffer.length;
  const takeChunks = async () => {
    while (next < end) {
      let at = next;
      const to = Math.min(at + session.chunkBytes, end);
      next = to;
      // A server may answer less than was asked for in the midst of a file.
      while (at < Math.min(to, end)) {
        const count = await session.read(handle, buffer, at, to);
        if (count === 0) end = Math.min(end, at);
        at += count;
      }
    }
  };
  const requests = Math.ceil(Math.min(maxBytesUnderWay, buffer.length) / session.chunkBytes);
  await Promise.all(Array.from({ length: requests }, takeChunks));
  return end;
}

/**
 * The same, one request at a time: for files of /proc and the like, which do not say how large they are, and of which some
 * are read in whole blocks only.
 */
export async function readToEnd(session: SftpSession, handle: Buffer, buffer: Buffer): Promise<number> {
  let at = 0;
  while (at + session.chunkBytes <= buffer.length) {
    const count = await session.read(handle, buffer, at, at + session.chunkBytes);
    if (count === 0) break;
    at += count;
  }
  return at;
}
