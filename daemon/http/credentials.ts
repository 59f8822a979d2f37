import type { IncomingMessage } from 'node:http';
import { CodedError } from '../contract/errors.ts';

/**
 * The credential of a request: `Authorization: Bearer …`, or on GET the query parameter `api_key`.
 *
 * @throws CodedError missing_credentials; bad_request when both are given
 */
export function readCredential(req: IncomingMessage, query: URLSearchParams | undefined): string {
  const header = req.headers.authorization;
  const fromQuery = query?.getAll('api_key') ?? [];
  if (header !== undefined && fromQuery.length > 0)
    throw new CodedError('bad_request', 'Give the key in the Authorization header or as api_key, not both.');
  if (fromQuery.length > 1) throw new CodedError('bad_request', 'api_key is given more than once.');
  if (header !== undefined) return readBearer(header);
  const [key] = fromQuery;
  if (key !== undefined && req.method === 'GET') return key;
  throw new CodedError(
    'missing_credentials',
    key === undefined
      ? 'Send an API key as "Authorization: Bearer <key>".'
      : 'The query parameter api_key works on GET alone; send the key as "Authorization: Bearer <key>".',
  );
}

function readBearer(header: string): string {
  const space = header.indexOf(' ');
  const token = header.slice(space + 1).trim();
  if (space < 0 || header.slice(0, space).toLowerCase() !== 'bearer' || token === '')
    throw new CodedError('missing_credentials', 'The Authorization header must be "Bearer <key>".');
  return token;
}
