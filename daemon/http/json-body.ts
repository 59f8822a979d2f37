import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { CodedError } from '../contract/errors.ts';
import { readBytes, refuseEncoding } from './raw-body.ts';

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
  const body = await readBytes(req, maxBodyBytes, tooLarge);
  if (body.length === 0) return undefined;
  if (!isUtf8(body)) throw new CodedError('malformed_json', 'The request body is not valid UTF-8.');
  try {
    return JSON.parse(body.toString('utf8'));
  } catch (cause) {
    throw new CodedError('malformed_json', 'The request body is not valid JSON.', { cause });
  }
}

function checkEncoding(req: IncomingMessage): void {
  refuseEncoding(req);
  const charset =
    /;\s*charset\s*=\s*"?([^";\s]+)/i.exec(req.headers['content-type'] ?? '')?.[1]?.toLowerCase() ?? 'utf-8';
  if (charset !== 'utf-8' && charset !== 'utf8')
    throw new CodedError('unsupported_media_type', 'JSON must be sent as UTF-8.');
}

function tooLarge(): CodedError {
  return new CodedError('body_too_large', 'The request body is larger than 1 MiB.');
}
