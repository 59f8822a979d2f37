import { CodedError } from '../contract/errors.ts';
import type { MasterKeyId } from '../contract/master-key.ts';
import type { FoundRing, KeyRing } from './find-ring.ts';
import type { KeySlot } from './key-place.ts';
import type { KeyFault } from './key-source.ts';
import type { MasterKeyRecord } from './store.ts';

/** The ring that was found. @throws CodedError with what to do where there is none */
export function ringIn(found: FoundRing): KeyRing {
  if ('ring' in found) return found.ring;
  throw 'fault' in found ? codedFault(found.fault) : noKeyYet();
}

export function codedFault({ code, detail }: KeyFault): CodedError {
  return new CodedError(code, detail);
}

export function noKeyYet(): CodedError {
  return new CodedError('conflict', 'There is no master key yet: the first secret will make it.');
}

/** Where a key belongs that is imported. @throws CodedError master_key_mismatch where it is none that a store needs */
export function slotFor(keyId: MasterKeyId, { key_id, rotation, retired }: MasterKeyRecord): KeySlot {
  if (key_id === null || keyId === key_id) return 'current';
  if (keyId === rotation?.to) return 'next';
  if (retired.some((old) => old.key_id === keyId)) return keyId;
  throw new CodedError(
    'master_key_mismatch',
    `This is the key ${keyId}, but the secrets were encrypted with ${key_id}. Nothing was changed.`,
    { members: { key_id: keyId, expected: key_id } },
  );
}
