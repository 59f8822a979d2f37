import { createPublicKey, type JsonWebKeyInput, verify } from 'node:crypto';
import { KeyReader } from './key-blob.ts';

/** Signature algorithm → type of the key that makes it. SHA-1 (`ssh-rsa`) and DSA are left out. */
const algorithms = new Map<string, { keyType: string; hash: string | null }>([
  ['ssh-ed25519', { keyType: 'ssh-ed25519', hash: null }],
  ['ecdsa-sha2-nistp256', { keyType: 'ecdsa-sha2-nistp256', hash: 'sha256' }],
  ['ecdsa-sha2-nistp384', { keyType: 'ecdsa-sha2-nistp384', hash: 'sha384' }],
  ['ecdsa-sha2-nistp521', { keyType: 'ecdsa-sha2-nistp521', hash: 'sha512' }],
  ['rsa-sha2-256', { keyType: 'ssh-rsa', hash: 'sha256' }],
  ['rsa-sha2-512', { keyType: 'ssh-rsa', hash: 'sha512' }],
]);

const curves = new Map([
  ['ecdsa-sha2-nistp256', { name: 'nistp256', crv: 'P-256', bytes: 32 }],
  ['ecdsa-sha2-nistp384', { name: 'nistp384', crv: 'P-384', bytes: 48 }],
  ['ecdsa-sha2-nistp521', { name: 'nistp521', crv: 'P-521', bytes: 66 }],
]);

/** Smaller RSA keys are within reach of being factored. */
const minRsaBytes = 2048 / 8;

/** Whether `signature` (RFC 4253, section 6.6) is that of `data` by `key`; false too for all that is malformed. */
export function verifySignature(key: Buffer, signature: Buffer, data: Buffer): boolean {
  const fields = new KeyReader(signature);
  const algorithm = algorithms.get(fields.text() ?? '');
  const value = fields.string();
  if (algorithm === undefined || value === undefined || !fields.atEnd) return false;
  try {
    const jwk = publicJwk(key, algorithm.keyType);
    const raw = algorithm.keyType.startsWith('ecdsa-') ? ecdsaValue(value, algorithm.keyType) : value;
    if (jwk === undefined || raw === undefined) return false;
    const publicKey = createPublicKey({ key: jwk, format: 'jwk' });
    return verify(algorithm.hash, data, { key: publicKey, dsaEncoding: 'ieee-p1363' }, raw);
  } catch {
    return false; // OpenSSL finds no key in it: a point off its curve, a number out of range.
  }
}

function publicJwk(key: Buffer, keyType: string): JsonWebKeyInput['key'] | undefined {
  const reader = new KeyReader(key);
  if (reader.text() !== keyType) return undefined;
  if (keyType === 'ssh-rsa') {
    const [e, n] = [unsigned(reader.string()), unsigned(reader.string())];
    if (e === undefined || n === undefined || !reader.atEnd || n.length < minRsaBytes) return undefined;
    return { kty: 'RSA', e: e.toString('base64url'), n: n.toString('base64url') };
  }
  const curve = curves.get(keyType);
  if (curve !== undefined && reader.text() !== curve.name) return undefined;
  const point = reader.string();
  if (point === undefined || !reader.atEnd) return undefined;
  if (curve === undefined) return { kty: 'OKP', crv: 'Ed25519', x: point.toString('base64url') };
  if (point.length !== 1 + 2 * curve.bytes || point[0] !== 4) return undefined; // uncompressed points only
  const [x, y] = [point.subarray(1, 1 + curve.bytes), point.subarray(1 + curve.bytes)];
  return { kty: 'EC', crv: curve.crv, x: x.toString('base64url'), y: y.toString('base64url') };
}

/** SSH packs two numbers, OpenSSL takes them at their full length one behind the other. */
function ecdsaValue(value: Buffer, keyType: string): Buffer | undefined {
  const bytes = curves.get(keyType)?.bytes ?? 0;
  const reader = new KeyReader(value);
  const [r, s] = [unsigned(reader.string()), unsigned(reader.string())];
  if (r === undefined || s === undefined || !reader.atEnd) return undefined;
  if (r.length > bytes || s.length > bytes) return undefined;
  const raw = Buffer.alloc(2 * bytes);
  raw.set(r, bytes - r.length);
  raw.set(s, 2 * bytes - s.length);
  return raw;
}

/** An mpint without its leading zero bytes. */
function unsigned(number: Buffer | undefined): Buffer | undefined {
  const start = number?.findIndex((byte) => byte !== 0);
  return start === undefined || start < 0 ? undefined : number?.subarray(start);
}
