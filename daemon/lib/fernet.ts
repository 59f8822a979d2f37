import type { KeyObject } from 'node:crypto';
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';

/** Bytes of a key: 16 that sign, then 16 that encrypt. */
export const fernetKeyBytes = 32;

/** The one answer to a token that can't be opened; it does not say why, so that it helps nobody to forge one. */
export class InvalidTokenError extends Error {
  override readonly name = 'InvalidTokenError';

  constructor() {
    super('This is not a valid token of this key.');
  }
}

export interface SealOptions {
  /** Milliseconds since the epoch that the token bears, to the second; now if not given. */
  readonly atMs?: number;
  /** 16 bytes, for test vectors alone: no two tokens of a key may share them. Random if not given. */
  readonly iv?: Uint8Array;
}

export interface OpenOptions {
  /** Refuses a token that is older, and one from more than a minute in the future; any age is good if not given. */
  readonly ttlSeconds?: number;
  readonly nowMs?: number;
}

/**
 * A Fernet token (github.com/fernet/spec, version 0x80): AES-128-CBC and HMAC-SHA256, base64url with padding.
 *
 * @throws RangeError for a key, an IV or a time that can't be one
 */
export function sealToken(key: Uint8Array, plaintext: Uint8Array, options: SealOptions = {}): string {
  const { signing, encryption } = halvesOf(key);
  const { atMs = Date.now(), iv = randomBytes(ivBytes) } = options;
  const cipher = createCipheriv('aes-128-cbc', encryption, iv);
  const body = cipher.update(plaintext);
  const rest = cipher.final();
  const token = Buffer.allocUnsafe(headBytes + body.length + rest.length + macBytes);
  token[0] = version;
  token.writeBigUInt64BE(BigInt(Math.floor(atMs / 1000)), 1);
  token.set(iv, timeEnd);
  token.set(body, headBytes);
  token.set(rest, headBytes + body.length);
  const signedBytes = token.length - macBytes;
  token.set(macOf(signing, token.subarray(0, signedBytes)), signedBytes);
  return paddedBase64url(token);
}

/**
 * What `sealToken`, or any Fernet library, has sealed with this key. A token has one spelling: other alphabets, white
 * space, missing padding and set unused bits are refused.
 *
 * @throws InvalidTokenError for whatever is wrong with the token; RangeError for a key that can't be one
 */
export function openToken(key: Uint8Array, token: string, options: OpenOptions = {}): Buffer {
  const { signing, encryption } = halvesOf(key);
  const bytes = Buffer.from(token, 'base64url');
  // Node's decoder passes over what it does not know and takes both alphabets.
  if (paddedBase64url(bytes) !== token) throw new InvalidTokenError();
  if (bytes[0] !== version || bytes.length < headBytes + blockBytes + macBytes) throw new InvalidTokenError();
  const signed = bytes.subarray(0, bytes.length - macBytes);
  if (!timingSafeEqual(macOf(signing, signed), bytes.subarray(signed.length))) throw new InvalidTokenError();
  if (!isTimely(Number(bytes.readBigUInt64BE(1)), options)) throw new InvalidTokenError();
  try {
    const decipher = createDecipheriv('aes-128-cbc', encryption, signed.subarray(timeEnd, headBytes));
    const body = decipher.update(signed.subarray(headBytes));
    const rest = decipher.final();
    return rest.length === 0 ? body : Buffer.concat([body, rest]);
  } catch {
    // Whatever is wrong with length or padding is not to be told apart from a wrong signature.
    throw new InvalidTokenError();
  }
}

const version = 0x80;
const timeEnd = 9;
const ivBytes = 16;
const headBytes = timeEnd + ivBytes;
const blockBytes = 16;
const macBytes = 32;
const clockSkewSeconds = 60;

function halvesOf(key: Uint8Array) {
  if (key.length !== fernetKeyBytes) throw new RangeError(`a Fernet key has ${fernetKeyBytes} bytes`);
  // Node takes key objects twice as fast as bytes.
  return { signing: createSecretKey(key.subarray(0, 16)), encryption: createSecretKey(key.subarray(16)) };
}

function macOf(signing: KeyObject, signed: Uint8Array): Buffer {
  return createHmac('sha256', signing).update(signed).digest();
}

function isTimely(atSeconds: number, { ttlSeconds, nowMs = Date.now() }: OpenOptions): boolean {
  if (ttlSeconds === undefined) return true;
  const nowSeconds = Math.floor(nowMs / 1000);
  return atSeconds + ttlSeconds >= nowSeconds && atSeconds <= nowSeconds + clockSkewSeconds;
}

function paddedBase64url(bytes: Buffer): string {
  return bytes.toString('base64url') + ['', '==', '='][bytes.length % 3];
}
