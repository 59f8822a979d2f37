import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { CodedError } from '../contract/errors.ts';

export const maxBodyBytes = 1024 * 1024;

/**
 * The request's body as JSON; undefined where there is none. Express's own parser would bring half a megabyte of
 * character sets, of which JSON knows one.
 *
 * @throws CodedError malformed_json, body_too_large, unsupported_media_type (an encoding or character set),
 * bad_request where the client breaks off
 */
export async function readJsonBody(req: IncomingMessage): Promise<unknown> {
  checkEncoding(req);
  if (Number(req.headers['content-length'] ?? 0) > maxBodyBytes) throw tooLarge();
  const body = await readBytes(req);
  if (body.length === 0) return undefined;
  if (!isUtf8(body)) throw new CodedError('malformed_json', 'The request body is not valid UTF-8.');
  try {
    return JSON.parse(body.toString('utf8'));
  } catch (cause) {
    throw new CodedError('malformed_json', 'The request body is not valid JSON.', { cause });
  }
}

function checkEncoding({ headers }: IncomingMessage): void {
  const encoding = headers['content-encoding']?.toLowerCase() ?? 'identity';
  if (encoding !== 'identity')
    throw new CodedError('unsupported_media_type', 'Send the request body without content encoding.');
  const charset =
    /;\s*charset\s*=\s*"?([^";\s]+)/i.exec(headers['content-type'] ?? '')?.[1]?.toLowerCase() ?? 'utf-8';
  if (charset !== 'utf-8' && charset !== 'utf8')
    throw new CodedError('unsupported_media_type', 'JSON must be sent as UTF-8.');
}

function readBytes(req: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    req.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      // What comes after the limit is read and dropped, so that the answer can reach a client that is still sending.
      if (bytes > maxBodyBytes) reject(tooLarge());
      else chunks.push(chunk);
    });
    req.once('end', () => resolve(Buffer.concat(chunks)));
    req.once('error', (cause) => reject(brokenOff(cause)));
    req.once('close', () => reject(brokenOff()));
  });
}

function tooLarge(): CodedError {
  return new CodedError('body_too_large', 'The request body is larger than 1 MiB.');
}

function brokenOff(cause?: unknown): CodedError {
  return new CodedError('bad_request', 'The request ended before its body was complete.', { cause });
}
