import type { SftpSession } from './sftp-session.ts';

/** What OpenSSH's own clients ask for at a time, and how often they do so before the first reply. */
const chunkBytes = Number(process.env.CH ?? 32) * 1024;
const maxRequests = Number(process.env.DE ?? 64);

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
      const to = Math.min(at + chunkBytes, end);
      next = to;
      // A server may answer less than was asked for in the midst of a file.
      while (at < Math.min(to, end)) {
        const count = await session.read(handle, buffer, at, to);
        if (count === 0) end = Math.min(end, at);
        at += count;
      }
    }
  };
  const requests = Math.min(maxRequests, Math.ceil(buffer.length / chunkBytes));
  await Promise.all(Array.from({ length: requests }, takeChunks));
  return end;
}

/** The same, one request at a time: for files of /proc and the like, which do not say how large they are. */
export async function readToEnd(session: SftpSession, handle: Buffer, buffer: Buffer): Promise<number> {
  for (let at = 0; at < buffer.length; ) {
    const count = await session.read(handle, buffer, at, Math.min(at + chunkBytes, buffer.length));
    if (count === 0) return at;
    at += count;
  }
  return buffer.length;
}
