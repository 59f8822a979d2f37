import { CodedError } from '../contract/errors.ts';
import { type MasterKey, masterKeyText, readMasterKey } from './key-format.ts';
import type { KeyPlace, KeySlot } from './key-place.ts';
import { faultOf } from './key-source.ts';

/**
 * Puts a key in a slot and reads it back: from then on it may be used.
 *
 * @throws CodedError master_key_locked, master_key_unavailable; StorageFullError, StorageFailedError. The key may be in
 *   its slot all the same.
 */
export async function keepKey(place: KeyPlace, slot: KeySlot, key: MasterKey): Promise<void> {
  await asked(async () => {
    const text = masterKeyText(key);
    await place.write(slot, text);
    if ((await place.read(slot)) === text) return;
    throw new CodedError(
      'master_key_unavailable',
      `The ${place.source} does not keep the key that it was given.`,
    );
  });
}

/** Puts a key in a slot as `keepKey` does; what else stood there is kept under its id, or as `set-aside`. */
export async function replaceKey(place: KeyPlace, slot: KeySlot, key: MasterKey): Promise<void> {
  const old = await asked(() => place.read(slot));
  if (old !== null) {
    const oldKey = readMasterKey(old);
    if (oldKey?.keyId === key.keyId) return;
    if (oldKey === undefined) await asked(() => place.write('set-aside', old));
    else await keepKey(place, oldKey.keyId, oldKey);
  }
  await keepKey(place, slot, key);
}

/** Does a call on a place of keys; its own failures become coded ones. */
export async function asked<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof CodedError) throw error;
    const { code, detail } = faultOf(error);
    throw new CodedError(code, detail, { cause: error });
  }
}
