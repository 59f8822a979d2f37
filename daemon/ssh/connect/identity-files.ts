import { createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto';
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import type { ParsedKey } from 'ssh2';
import { KeyReader, keyString } from '../host-keys/key-blob.ts';
import type { Ssh2 } from './load-ssh2.ts';

/** What is in an identity file. `missing` and `unusable` may still have a public part that the agent knows. */
export type Identity =
  | { readonly kind: 'private'; readonly publicKey: ParsedKey; readonly sign: Sign }
  | { readonly kind: 'missing' | 'encrypted' | 'unusable'; readonly publicKey: ParsedKey | undefined };

/** @returns the signature in the form OpenSSL gives it. `hash` decides for RSA only. @throws Error */
export type Sign = (data: Buffer, hash: string | undefined) => Buffer;

/** Far more than a key of any type needs. */
const maxKeyBytes = 64 * 1024;

/**
 * Reads a private key: OpenSSH's own format, PEM (PKCS #1, SEC 1) or PKCS #8; ed25519, ecdsa or rsa. Never asks for a
 * passphrase, never throws: a key that can't be used is passed over, as OpenSSH does.
 */
export async function readIdentity(path: string, ssh2: Ssh2): Promise<Identity> {
  const text = await readSmallFile(path);
  const parsed = text === undefined ? undefined : parseIdentity(text, ssh2);
  if (parsed?.kind === 'private') return parsed;
  const publicKey = parsed?.publicKey ?? parsePublic(await readSmallFile(`${path}.pub`), ssh2);
  return { kind: text === undefined ? 'missing' : (parsed?.kind ?? 'unusable'), publicKey };
}

function parseIdentity(text: string, ssh2: Ssh2): Identity {
  const key = firstKey(ssh2.utils.parseKey(text));
  if (key instanceof Error) {
    if (/encrypted/i.test(key.message)) return { kind: 'encrypted', publicKey: publicPart(text, ssh2) };
    return parseWithOpenSsl(text, ssh2);
  }
  if (!isModern(key)) return { kind: 'unusable', publicKey: undefined };
  if (!key.isPrivateKey()) return { kind: 'unusable', publicKey: key };
  return { kind: 'private', publicKey: key, sign: (data, hash) => signed(key.sign(data, hash)) };
}

/** PKCS #8, which ssh2 does not read. */
function parseWithOpenSsl(text: string, ssh2: Ssh2): Identity {
  if (text.includes('-----BEGIN ENCRYPTED PRIVATE KEY-----'))
    return { kind: 'encrypted', publicKey: undefined };
  try {
    const key = createPrivateKey(text);
    const publicKey = firstKey(ssh2.utils.parseKey(publicBlob(key)));
    if (publicKey instanceof Error) return { kind: 'unusable', publicKey: undefined };
    const fixedHash = signatureHashes.get(publicKey.type);
    return { kind: 'private', publicKey, sign: (data, hash) => sign(fixedHash ?? hash, data, key) };
  } catch {
    return { kind: 'unusable', publicKey: undefined }; // No key that OpenSSL reads either.
  }
}

/** By key type; null where the algorithm has its own. Not for RSA, whose hash is agreed on. */
const signatureHashes = new Map<string, string | null>([
  ['ssh-ed25519', null],
  ['ecdsa-sha2-nistp256', 'sha256'],
  ['ecdsa-sha2-nistp384', 'sha384'],
  ['ecdsa-sha2-nistp521', 'sha512'],
]);

const curveNames = new Map([
  ['P-256', 'nistp256'],
  ['P-384', 'nistp384'],
  ['P-521', 'nistp521'],
]);

function publicBlob(key: KeyObject): Buffer {
  const jwk = createPublicKey(key).export({ format: 'jwk' });
  const bytes = (text: string | undefined) => Buffer.from(text ?? '', 'base64url');
  // Numbers that begin with a one bit would be negative without a zero before.
  const number = (value: Buffer) =>
    (value[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.alloc(1), value]) : value;
  const fields = (...parts: (Buffer | string)[]) => Buffer.concat(parts.map(keyString));
  if (jwk.kty === 'RSA') return fields('ssh-rsa', number(bytes(jwk.e)), number(bytes(jwk.n)));
  if (jwk.kty === 'OKP') return fields('ssh-ed25519', bytes(jwk.x));
  const curve = curveNames.get(jwk.crv ?? '') ?? '';
  const point = Buffer.concat([Buffer.from([4]), bytes(jwk.x), bytes(jwk.y)]);
  return fields(`ecdsa-sha2-${curve}`, curve, point);
}

/** OpenSSH's format has the public key in the clear, before the encrypted part. */
function publicPart(text: string, ssh2: Ssh2): ParsedKey | undefined {
  const base64 = /-----BEGIN OPENSSH PRIVATE KEY-----([^-]+)-----END/.exec(text)?.[1];
  const magic = Buffer.from('openssh-key-v1\0', 'latin1');
  const bytes = Buffer.from(base64 ?? '', 'base64');
  if (!bytes.subarray(0, magic.length).equals(magic)) return undefined;
  const reader = new KeyReader(bytes.subarray(magic.length));
  reader.string(); // cipher
  reader.string(); // key derivation
  reader.string(); // and its options
  reader.number(); // of keys: one
  const key = firstKey(ssh2.utils.parseKey(reader.string() ?? ''));
  return key instanceof Error ? undefined : key;
}

function parsePublic(text: string | undefined, ssh2: Ssh2): ParsedKey | undefined {
  if (text === undefined) return undefined;
  const key = firstKey(ssh2.utils.parseKey(text));
  return key instanceof Error || !isModern(key) ? undefined : key;
}

export function isModern(key: ParsedKey): boolean {
  return key.type === 'ssh-rsa' || signatureHashes.has(key.type);
}

/** ssh2's types say one key; a file of OpenSSH's format comes back as a list with one. */
function firstKey(parsed: ParsedKey | Error | ParsedKey[]): ParsedKey | Error {
  return Array.isArray(parsed) ? (parsed[0] ?? new Error('no key in it')) : parsed;
}

/** ssh2 returns an error where its type says it throws. */
function signed(signature: Buffer | Error): Buffer {
  if (signature instanceof Error) throw signature;
  return signature;
}

async function readSmallFile(path: string): Promise<string | undefined> {
  try {
    // Without waiting for the other end of a FIFO.
    await using file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const stat = await file.stat();
    return stat.isFile() && stat.size <= maxKeyBytes ? await file.readFile('utf8') : undefined;
  } catch {
    return undefined; // Missing or unreadable: the same to the one who signs in, and it is reported as not tried.
  }
}
