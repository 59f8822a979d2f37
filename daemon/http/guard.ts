import type { IncomingMessage } from 'node:http';
import { CodedError } from '../contract/errors.ts';

/**
 * Who may speak to the daemon at all: the first check of every request, unknown paths and upgrades included. A web page
 * that a browser shows can reach 127.0.0.1, directly or by DNS rebinding; its Host or Origin gives it away.
 *
 * @throws CodedError host_not_allowed, origin_not_allowed or unsupported_media_type
 */
export function checkGuard(req: IncomingMessage, port: number): void {
  checkHost(req, port);
  checkOrigin(req, port);
  checkBodyType(req);
}

function checkHost(req: IncomingMessage, port: number): void {
  const { hosts } = ownNames(port);
  const host = req.headers.host?.toLowerCase() ?? '';
  const [target = host] = hostOfTarget(req.url ?? '');
  if (hosts.includes(host) && hosts.includes(target.toLowerCase()) && countHeader(req, 'host') === 1) return;
  throw new CodedError(
    'host_not_allowed',
    `This daemon answers for 127.0.0.1:${port} and localhost:${port} only.`,
  );
}

/** A request target in absolute form, as for a proxy, names a host as well (RFC 9112, section 3.2.2). */
function hostOfTarget(target: string): readonly string[] {
  if (target.startsWith('/') || target === '*') return [];
  return [/^http:\/\/([^/?#]*)/i.exec(target)?.[1] ?? ''];
}

function checkOrigin(req: IncomingMessage, port: number): void {
  const { origin, 'sec-fetch-site': site } = req.headers;
  // Where a header is there more than once, Node joins the values: no joined one is among our own.
  const foreignOrigin = origin !== undefined && !ownNames(port).origins.includes(origin.toLowerCase());
  // A page served for another loopback port counts as same-site to the browser; only its Origin shows it.
  const foreignSite = site?.includes('cross-site') ?? false;
  if (!foreignOrigin && !foreignSite) return;
  throw new CodedError('origin_not_allowed', 'Requests from other web pages are refused.');
}

function checkBodyType(req: IncomingMessage): void {
  const hasBody =
    req.headers['transfer-encoding'] !== undefined || Number(req.headers['content-length'] ?? 0) > 0;
  if (!hasBody) return;
  const type = (req.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase();
  if (type === 'application/json') return;
  if (!takesFileContent(req))
    throw new CodedError('unsupported_media_type', 'A request body must be sent as application/json.');
  if (type === 'application/octet-stream' || /^text\/[a-z0-9.+-]+$/.test(type ?? '')) return;
  throw new CodedError(
    'unsupported_media_type',
    'The content of a file must be sent as application/octet-stream or text/*.',
  );
}

/** The one call whose body is a file's content. No web page can make it: PUT is never sent without asking first. */
function takesFileContent({ method, url = '' }: IncomingMessage): boolean {
  return method === 'PUT' && url.split('?', 1)[0] === '/api/project/file';
}

function countHeader(req: IncomingMessage, name: string): number {
  let count = 0;
  for (let i = 0; i < req.rawHeaders.length; i += 2)
    if (req.rawHeaders[i]?.toLowerCase() === name) count += 1;
  return count;
}

interface OwnNames {
  readonly hosts: readonly string[];
  readonly origins: readonly string[];
}

const namesOfPort = new Map<number, OwnNames>();

function ownNames(port: number): OwnNames {
  let names = namesOfPort.get(port);
  if (names === undefined) {
    const hosts = ['127.0.0.1', 'localhost', '[::1]'].map((name) => `${name}:${port}`);
    names = { hosts, origins: hosts.map((host) => `http://${host}`) };
    namesOfPort.set(port, names);
  }
  return names;
}
