import { portNumber } from './setting-values.ts';

/** A hop as ProxyJump names it. */
export interface WrittenHop {
  readonly user: string | null;
  readonly host: string;
  readonly port: number | null;
}

/**
 * The hops of a ProxyJump line, first hop first; none for `none`.
 *
 * @throws Error where one can't be read
 */
export function parseJump(text: string): WrittenHop[] {
  const spec = (text.split('#', 1)[0] ?? '').trim().replace(/\s.*/s, '').replaceAll('"', '');
  if (spec.toLowerCase() === 'none') return [];
  return spec.split(',').map(parseHop);
}

function parseHop(text: string): WrittenHop {
  const isUri = text.startsWith('ssh://');
  const address = isUri ? text.slice('ssh://'.length) : text;
  const at = isUri ? address.indexOf('@') : address.lastIndexOf('@');
  const user = at === -1 ? null : address.slice(0, at);
  const place = /^(\[[^\]]*\]|[^[:/][^:/]*)(?:([:/])(.*))?$/s.exec(address.slice(at + 1));
  const host = (place?.[1] ?? '').replace(/^\[(.*)\]$/s, '$1');
  const [, , separator, tail = ''] = place ?? [];
  const isPath = separator === '/' && !isUri;
  if (host === '' || user === '' || isPath) throw new Error(`"${text}" is not a host to jump over`);
  if (isUri)
    return { user: user === null ? null : uriUser(user), host, port: uriPort(text, separator, tail) };
  return { user, host, port: tail === '' ? null : portNumber(tail) };
}

/** A URI may end in a slash, but name no path. */
function uriPort(text: string, separator: string | undefined, tail: string): number | null {
  const port = separator === ':' ? tail.replace(/\/$/, '') : '';
  if (separator === '/' && tail !== '') throw new Error(`"${text}" has a path`);
  return port === '' ? null : portNumber(port);
}

function uriUser(text: string): string {
  const user = text.split(';', 1)[0] ?? '';
  try {
    return decodeURIComponent(user.replaceAll('+', ' '));
  } catch (cause) {
    throw new Error(`"${user}" is not a user`, { cause });
  }
}
