import { hkdfSync, randomBytes } from 'node:crypto';
import type { MasterKeyId } from '../contract/master-key.ts';

export interface MasterKey {
  /** 32 of them. */
  readonly bytes: Buffer;
  /** The check value: it tells keys apart and gives nothing of them away. */
  readonly keyId: MasterKeyId;
}

const keyBytes = 32;

/** A key from the system's random source. */
export function newMasterKey(): MasterKey {
  return masterKeyOf(randomBytes(keyBytes));
}

/**
 * The key in a text: 43 characters of base64url, with or without the `=` that pads them, and white space around.
 * Undefined where it is anything else, unused bits that are set included.
 */
export function readMasterKey(text: string): MasterKey | undefined {
  const bytes = parseMasterKey(text);
  return bytes === undefined ? undefined : masterKeyOf(bytes);
}

/** The text that a key is kept and exported as: what Fernet libraries take for a key. */
export function masterKeyText({ bytes }: MasterKey): string {
  return `${bytes.toString('base64url')}=`;
}

/** The 32 bytes of a master key from its text; see `readMasterKey`. */
export function parseMasterKey(text: string): Buffer | undefined {
  const trimmed = text.trim().replace(/=$/, '');
  const bytes = Buffer.from(trimmed, 'base64url');
  return bytes.length === keyBytes && bytes.toString('base64url') === trimmed ? bytes : undefined;
}

/** `mk_` and the 8 bytes of HKDF-SHA256 without salt, info `tallystick/master-key-id/v1`, in hexadecimal. */
export function masterKeyId(master: Uint8Array): MasterKeyId {
  if (master.length !== keyBytes) throw new RangeError(`a master key has ${keyBytes} bytes`);
  const id = Buffer.from(hkdfSync('sha256', master, '', 'tallystick/master-key-id/v1', 8));
  return `mk_${id.toString('hex')}`;
}

function masterKeyOf(bytes: Buffer): MasterKey {
  return { bytes, keyId: masterKeyId(bytes) };
}
