import { randomBytes } from 'node:crypto';
import { type Keychain, proveUnlocked } from '../lib/keychain.ts';

/**
 * Which key of a place: `current`, the one in use; `next`, the one that a rotation goes over to; or the id of one that
 * was retired.
 */
export type KeySlot = string;

/** Where master keys are kept and can be changed. A failed write may have taken effect all the same. */
export interface KeyPlace {
  readonly source: 'file' | 'keychain';
  /** The text in a slot; null where there is none. */
  read(slot: KeySlot): Promise<string | null>;
  write(slot: KeySlot, text: string): Promise<void>;
  /** Resolves where there was none, too. */
  remove(slot: KeySlot): Promise<void>;
  /** Resolves where a slot without a key is known to be empty; rejects where it may only be locked. */
  prove(): Promise<void>;
}

/** Keys in the keychain: accounts `master-key`, `master-key-next`, `master-key-mk_…`. Fails with `KeychainError`. */
export function keychainPlace(keychain: (account: string) => Keychain): KeyPlace {
  // One for each account: it sees to it that one call at a time is with the keychain.
  const entries = new Map<string, Keychain>();
  const entry = (account: string) => {
    const known = entries.get(account) ?? keychain(account);
    entries.set(account, known);
    return known;
  };
  // Two at once would find each other's value.
  let proving: Promise<void> | undefined;
  const prove = () => {
    proving ??= proveUnlocked(entry('keychain-check'), randomBytes(16).toString('hex')).finally(() => {
      proving = undefined;
    });
    return proving;
  };
  const of = (slot: KeySlot) => entry(slot === 'current' ? 'master-key' : `master-key-${slot}`);
  return {
    source: 'keychain',
    read: (slot) => of(slot).get(),
    write: (slot, text) => of(slot).set(text),
    remove: (slot) => of(slot).remove(),
    prove,
  };
}
