import { isIP } from 'node:net';

/** An IP address as ssh writes it, also one in a form of old (`127.1`, `0x7f000001`); null where it is a name. */
export function canonicalAddress(host: string): string | null {
  if (isIP(host) === 6)
    return host.includes('%') || host.includes('.') ? host : (urlHost(`[${host}]`)?.slice(1, -1) ?? null);
  if (/^(?:0x[\da-f]*|\d+)(?:\.(?:0x[\da-f]*|\d+)){0,3}$/i.test(host)) return urlHost(host);
  return null;
}

function urlHost(host: string): string | null {
  return URL.parse(`http://${host}/`)?.hostname ?? null;
}
