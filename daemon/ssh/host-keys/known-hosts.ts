import { createHmac, timingSafeEqual } from 'node:crypto';
import { matchPattern } from '../config/match-pattern.ts';
import { keyTypeOf } from './key-blob.ts';

/** A line of a known_hosts file (sshd(8), SSH_KNOWN_HOSTS FILE FORMAT). */
export interface KnownHost {
  readonly marker: 'none' | 'revoked' | 'cert-authority';
  /** Whether the line is about a name as `lookupNames` gives it. */
  readonly matches: (name: string) => boolean;
  readonly keyType: string;
  /** As it goes over the wire. */
  readonly key: Buffer;
}

/** The entries of a file. Comments, and lines that are not as the format says, are no entries, as for OpenSSH. */
export function parseKnownHosts(text: string): KnownHost[] {
  return text.split('\n').flatMap((line) => parseLine(line) ?? []);
}

const markers = new Map<string, KnownHost['marker']>([
  ['@revoked', 'revoked'],
  ['@cert-authority', 'cert-authority'],
]);

function parseLine(line: string): KnownHost | undefined {
  const fields = line.trim().split(/[ \t]+/);
  const first = fields[0] ?? '';
  if (first === '' || first.startsWith('#')) return undefined;
  const marker = first.startsWith('@') ? markers.get(first) : 'none';
  if (marker === undefined) return undefined;
  const [names, keyType, base64] = marker === 'none' ? fields : fields.slice(1);
  if (names === undefined || keyType === undefined || base64 === undefined) return undefined;
  const key = decodeKey(keyType, base64);
  const matches = names.startsWith('|') ? hashedName(names) : listedName(names);
  return key === undefined || matches === undefined ? undefined : { marker, matches, keyType, key };
}

/** The type is in the key once more: where the two differ, the line is broken. */
function decodeKey(keyType: string, base64: string): Buffer | undefined {
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) return undefined;
  const key = Buffer.from(base64, 'base64');
  return keyTypeOf(key) === keyType ? key : undefined;
}

/** `|1|salt|hash`: HMAC-SHA1 of the one name, with the salt as its key. */
function hashedName(names: string): KnownHost['matches'] | undefined {
  const [, version, salt, hash, ...more] = names.split('|');
  if (version !== '1' || salt === undefined || hash === undefined || more.length > 0) return undefined;
  const expected = Buffer.from(hash, 'base64');
  if (expected.length !== 20) return undefined;
  const key = Buffer.from(salt, 'base64');
  return (name) => timingSafeEqual(createHmac('sha1', key).update(name).digest(), expected);
}

/** A comma list of names with `*` and `?`; one that begins with `!` and matches rules the whole line out. */
function listedName(names: string): KnownHost['matches'] {
  const patterns = names.toLowerCase().split(',').filter(Boolean);
  return (name) => {
    if (patterns.some((pattern) => pattern.startsWith('!') && matchPattern(name, pattern.slice(1))))
      return false;
    return patterns.some((pattern) => matchPattern(name, pattern));
  };
}
