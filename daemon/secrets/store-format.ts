import { hkdfSync } from 'node:crypto';
import type { WorkspaceId } from '../contract/ids.ts';
import { fernetKeyBytes, InvalidTokenError, openToken, sealToken } from '../lib/fernet.ts';
import { readPlaintext, type StoreContents, StoreFormatError, writePlaintext } from './store-plaintext.ts';

export type { StoreContents, StoredSecret } from './store-plaintext.ts';
export { StoreFormatError } from './store-plaintext.ts';

/** The Fernet key of a workspace's store: HKDF-SHA256 of the master key's 32 bytes. */
export function workspaceKey(master: Uint8Array, wsId: WorkspaceId): Buffer {
  if (master.length !== fernetKeyBytes) throw new RangeError(`a master key has ${fernetKeyBytes} bytes`);
  return Buffer.from(hkdfSync('sha256', master, wsId, 'tallystick/secrets/v1', fernetKeyBytes));
}

/**
 * The bytes of `secrets.enc`, as ASCII. `key` is the workspace's key.
 *
 * @throws RangeError for what `openStore` would refuse
 */
export function sealStore(key: Uint8Array, wsId: WorkspaceId, contents: StoreContents): string {
  return sealToken(key, Buffer.from(writePlaintext(wsId, contents)));
}

/**
 * Opens what `sealStore` has made. `token` is the whole file: with anything beside the token it is refused.
 *
 * @throws StoreFormatError
 */
export function openStore(key: Uint8Array, wsId: WorkspaceId, token: string): StoreContents {
  return readPlaintext(wsId, decoded(opened(key, token)));
}

function opened(key: Uint8Array, token: string): Buffer {
  try {
    return openToken(key, token);
  } catch (error) {
    if (!(error instanceof InvalidTokenError)) throw error;
    throw new StoreFormatError(
      'wrong_key_or_altered',
      'The secrets were encrypted with another key, or the file was altered.',
    );
  }
}

function decoded(plaintext: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(plaintext);
  } catch {
    // Bytes that are not UTF-8 become nothing that could be shown.
    throw new StoreFormatError('unreadable', 'The secrets were decrypted, but are not text.');
  }
}
