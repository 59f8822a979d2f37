import type { MasterKeyId, MasterKeySource } from '../contract/master-key.ts';
import { type MasterKey, readMasterKey } from './key-format.ts';
import type { KeyPlace } from './key-place.ts';
import { type AskedSource, faultOf, type KeyFault, type KeySources } from './key-source.ts';
import type { MasterKeyRecord } from './store.ts';

export interface KeyRing {
  readonly sealing: MasterKey;
  /** All that a store may have been sealed with: the sealing key first, then the other of a rotation, then retired ones. */
  readonly opening: readonly MasterKey[];
}

/** What there is to work with: a ring, a source in which the first key may be made, or a fault. */
export type FoundRing =
  | { readonly source: MasterKeySource; readonly ring: KeyRing }
  | { readonly source: 'keychain'; readonly empty: KeyPlace }
  | { readonly source: MasterKeySource | null; readonly fault: KeyFault; readonly isAbsent?: boolean };

export interface FindRingOptions {
  readonly sources: KeySources;
  readonly record: MasterKeyRecord;
  readonly hasStores: () => Promise<boolean>;
  /** Told of keys that stores may need and that are gone. */
  readonly onMissing: (keyId: MasterKeyId) => void;
}

/** Looks for the keys that the record names. Never makes one; does not reject for what the sources answer. */
export async function findRing(options: FindRingOptions): Promise<FoundRing> {
  const found = await findOnce(options);
  if (found.source !== 'keychain' || !('fault' in found) || !found.isAbsent) return found;
  // A keychain that is locked may say of every entry that there is none.
  try {
    await options.sources.keychain?.prove();
  } catch (error) {
    return { source: 'keychain', fault: faultOf(error) };
  }
  return findOnce(options);
}

async function findOnce(options: FindRingOptions): Promise<FoundRing> {
  const { record, sources } = options;
  const asked = await sources.ask();
  if ('fault' in asked) return asked;
  try {
    const sealingId = record.rotation?.to ?? record.key_id;
    return sealingId === null ? await firstRing(asked, options) : await knownRing(asked, sealingId, options);
  } catch (error) {
    return { source: asked.source, fault: faultOf(error) };
  }
}

type Answered = Exclude<AskedSource, { fault: KeyFault }>;

/** No key was ever used, or the state file that knew of it is lost. */
async function firstRing(asked: Answered, { sources, hasStores }: FindRingOptions): Promise<FoundRing> {
  const { source, key, place } = asked;
  if (key === null) {
    if (source === 'keychain' && !(await hasStores())) return { source, empty: place };
    return absent(source, sources);
  }
  // Of a rotation that the state file has forgotten, the new key is still there beside the old one.
  const next = place && (await keyIn(place, 'next'));
  const others = next && next.keyId !== key.keyId && (await hasStores()) ? [next] : [];
  return { source, ring: { sealing: key, opening: [key, ...others] } };
}

async function knownRing(
  asked: Answered,
  sealingId: MasterKeyId,
  { sources, record, onMissing }: FindRingOptions,
): Promise<FoundRing> {
  const { source, key, place } = asked;
  const find = (id: MasterKeyId) => (key?.keyId === id ? key : place && keyById(place, id));
  const sealing = await find(sealingId);
  if (!sealing) {
    if (key === null) return absent(source, sources);
    const detail = otherKey(source, key.keyId, sealingId, record);
    return { source, fault: { code: 'master_key_unavailable', detail } };
  }
  const opening = [sealing];
  const { rotation, retired } = record;
  // Once the new key has taken the place of the old one, no store needs the old one any more.
  const from = rotation && (await find(rotation.from));
  if (from) opening.push(from);
  for (const { key_id } of retired) {
    const old = (await find(key_id)) ?? (await elsewhere(sources, place, key_id));
    if (old) opening.push(old);
    else onMissing(key_id);
  }
  return { source, ring: { sealing, opening } };
}

/** A key that is kept for old stores is of use wherever it is; that it can't be looked for is no reason to stop. */
async function elsewhere(sources: KeySources, asked: KeyPlace | null, id: MasterKeyId) {
  for (const place of sources.places) {
    if (place === asked) continue;
    try {
      const key = await keyById(place, id);
      if (key) return key;
    } catch (error) {
      faultOf(error);
    }
  }
  return undefined;
}

async function keyById(place: KeyPlace, id: MasterKeyId): Promise<MasterKey | undefined> {
  for (const slot of ['next', id, 'current']) {
    const key = await keyIn(place, slot);
    if (key?.keyId === id) return key;
  }
  return undefined;
}

async function keyIn(place: KeyPlace, slot: string): Promise<MasterKey | undefined> {
  const text = await place.read(slot);
  return text === null ? undefined : readMasterKey(text);
}

function absent(source: MasterKeySource, sources: KeySources): FoundRing {
  const detail = sources.whatToDo(source);
  return { source, fault: { code: 'master_key_unavailable', detail }, isAbsent: true };
}

function otherKey(
  source: MasterKeySource,
  found: MasterKeyId,
  needed: MasterKeyId,
  { rotation }: MasterKeyRecord,
): string {
  const place = { environment: 'SERVICE_SECRET_KEY', file: 'The key file', keychain: 'The keychain' }[source];
  const why =
    rotation === null
      ? `the secrets were encrypted with ${needed}`
      : `a rotation to ${needed} was cut short, which is kept where the key was at that time`;
  return `${place} has the key ${found}, but ${why}. Put that key there, or import it in the panel.`;
}
