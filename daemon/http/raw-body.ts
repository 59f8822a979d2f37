import type { IncomingMessage } from 'node:http';
import { CodedError } from '../contract/errors.ts';

/**
 * The request's body as it was sent.
 *
 * @throws CodedError file_too_large over `maxBytes`, unsupported_media_type (an encoding), bad_request where the client
 * breaks off
 */
export async function readRawBody(req: IncomingMessage, maxBytes: number): Promise<Buffer> {
  refuseEncoding(req);
  const tooLarge = () =>
    new CodedError('file_too_large', `The content is larger than ${maxBytes / 1024 / 1024} MiB.`);
  if (Number(req.headers['content-length'] ?? 0) > maxBytes) throw tooLarge();
  return readBytes(req, maxBytes, tooLarge);
}

export function refuseEncoding({ headers }: IncomingMessage): void {
  const encoding = headers['content-encoding']?.toLowerCase() ?? 'identity';
  if (encoding !== 'identity')
    throw new CodedError('unsupported_media_type', 'Send the request body without content encoding.');
}

/** All of the body; where it is larger, rejects with `tooLarge`. */
export function readBytes(
  req: IncomingMessage,
  maxBytes: number,
  tooLarge: () => CodedError,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    req.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      // What comes after the limit is read and dropped, so that the answer can reach a client that is still sending.
      if (bytes > maxBytes) {
        chunks.length = 0;
        reject(tooLarge());
      } else chunks.push(chunk);
    });
    req.once('end', () => resolve(Buffer.concat(chunks)));
    req.once('error', (cause) => reject(brokenOff(cause)));
    req.once('close', () => reject(brokenOff()));
  });
}

function brokenOff(cause?: unknown): CodedError {
  return new CodedError('bad_request', 'The request ended before its body was complete.', { cause });
}
