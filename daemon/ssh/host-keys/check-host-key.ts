import type { ResolvedHost } from '../resolved-host.ts';
import { fingerprintOf } from './key-blob.ts';
import type { KnownHost } from './known-hosts.ts';

/** What a host is looked up by. */
export type HostName = Pick<ResolvedHost, 'hostname' | 'port' | 'hostKeyAlias'>;

export type HostKeyStatus =
  | { readonly status: 'known' | 'unknown' }
  /** The host is known by other keys, these, of whatever type; or this key is revoked. */
  | { readonly status: 'changed' | 'revoked'; readonly knownFingerprints: readonly string[] };

const standardPort = 22;

/** The names of a host in known_hosts: the first is what OpenSSH looks up and writes, the second it falls back to. */
export function lookupNames({ hostname, port, hostKeyAlias }: HostName): [string, ...string[]] {
  if (hostKeyAlias !== null) return [hostKeyAlias.toLowerCase()];
  const name = hostname.toLowerCase();
  return port === standardPort ? [name] : [`[${name}]:${port}`, name];
}

/**
 * What `known` says of a host's key, as OpenSSH decides it: any line with this key makes it known, any other key of the
 * host makes it changed. A key known for the host on its standard port is known on another port too, unless that port
 * has keys of its own. A revoked key stays revoked whatever other lines say.
 */
export function checkHostKey(known: readonly KnownHost[], host: HostName, key: Buffer): HostKeyStatus {
  const names = lookupNames(host);
  if (isRevoked(known, host, key)) return { status: 'revoked', knownFingerprints: [fingerprintOf(key)] };
  const keysOf = (name: string) => known.filter(({ marker, matches }) => marker === 'none' && matches(name));
  const [own, ...others] = names.map(keysOf);
  const isThis = (entry: KnownHost) => entry.key.equals(key);
  if (own?.some(isThis)) return { status: 'known' };
  if (own !== undefined && own.length > 0) {
    return {
      status: 'changed',
      knownFingerprints: [...new Set(own.map((entry) => fingerprintOf(entry.key)))],
    };
  }
  return { status: others.flat().some(isThis) ? 'known' : 'unknown' };
}

/**
 * The same from the user's files and from our own. Ours counts only where the user's say nothing of the host: a key
 * accepted here never stands against one that the user has written down.
 */
export function checkInBoth(
  theirs: readonly KnownHost[],
  ours: readonly KnownHost[],
  host: HostName,
  key: Buffer,
): HostKeyStatus {
  const [first, second] = [checkHostKey(theirs, host, key), checkHostKey(ours, host, key)];
  return first.status === 'unknown' || second.status === 'revoked' ? second : first;
}

export function isRevoked(known: readonly KnownHost[], host: HostName, key: Buffer): boolean {
  const names = lookupNames(host);
  return known.some(
    (entry) => entry.marker === 'revoked' && names.some(entry.matches) && entry.key.equals(key),
  );
}

/** The types of the keys that are known for a host, without repetition: these are to be offered first. */
export function knownKeyTypes(known: readonly KnownHost[], host: HostName): string[] {
  for (const name of lookupNames(host)) {
    const own = known.filter(({ marker, matches }) => marker === 'none' && matches(name));
    if (own.length > 0) return [...new Set(own.map(({ keyType }) => keyType))];
  }
  return [];
}

/** The keys that may sign certificates of a host. */
export function certificateAuthorities(known: readonly KnownHost[], host: HostName): Buffer[] {
  const names = lookupNames(host);
  return known
    .filter(({ marker, matches }) => marker === 'cert-authority' && names.some(matches))
    .map(({ key }) => key);
}
