import { CodedError } from '../contract/errors.ts';
import type { WorkspaceId } from '../contract/ids.ts';
import type { MasterKeyId, MasterKeyStatus } from '../contract/master-key.ts';
import { type Clock, timestamp } from '../lib/clock.ts';
import type { StateSlice } from '../lib/state-slice.ts';
import { placeToImportTo, placeToRotateIn } from './choose-place.ts';
import { describeKey, type RotationProgress } from './describe-key.ts';
import type { KeyRing } from './find-ring.ts';
import { asked, keepKey, replaceKey } from './keep-key.ts';
import { type MasterKey, newMasterKey, readMasterKey } from './key-format.ts';
import type { KeyPlace, KeySlot } from './key-place.ts';
import { type KeySourceOptions, KeySources } from './key-source.ts';
import { noKeyYet, ringIn, slotFor } from './refusals.ts';
import { RingFinder } from './ring-finder.ts';
import type { MasterKeyRecord } from './store.ts';

export type { KeyRing } from './find-ring.ts';
export { defaultKeyFile } from './key-source.ts';

export interface MasterKeysOptions extends KeySourceOptions {
  readonly slice: StateSlice<MasterKeyRecord>;
  /** Whether any workspace has a store: then a key exists somewhere, and none is made. */
  readonly hasStores: () => Promise<boolean>;
  /** For the names of workspaces in the status. */
  readonly slugOf: (wsId: WorkspaceId) => string | undefined;
  readonly clock: Clock;
  readonly onNotice: (message: string) => void;
}

/** The key that all stores are sealed with: found, made on first need, exchanged for another. */
export class MasterKeys {
  /** Of the rotation that runs in this process; set by it. */
  progress: RotationProgress | null = null;
  readonly #options: MasterKeysOptions;
  readonly #sources: KeySources;
  readonly #finder: RingFinder;
  /** What changes keys or the record is done one after the other. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(options: MasterKeysOptions) {
    this.#options = options;
    this.#sources = new KeySources(options);
    this.#finder = new RingFinder({ ...options, sources: this.#sources, record: () => this.#record });
  }

  /** Asks the source again where it is not ready; never makes a key. */
  async status(): Promise<MasterKeyStatus> {
    const { slugOf } = this.#options;
    const found = await this.#finder.look();
    return describeKey(found, {
      sources: this.#sources,
      record: this.#record,
      progress: this.progress,
      slugOf,
    });
  }

  /**
   * What stores can be opened with; null where there never was a key. Kept in memory from then on.
   *
   * @throws CodedError master_key_locked, master_key_unavailable, with what to do
   */
  async ring(): Promise<KeyRing | null> {
    // Who has no secrets is not asked to unlock a keychain.
    if (this.#record.key_id === null && !(await this.#options.hasStores())) return null;
    const found = await this.#finder.look();
    return 'empty' in found ? null : ringIn(found);
  }

  /**
   * What a store is to be sealed with. Makes the key on first need: only where there is no check value and no store.
   * To be asked for in the workspace's own turn, so that a rotation that has begun is seen. Where a key was made,
   * `onMade` is waited for.
   *
   * @throws CodedError as `ring`; StorageFullError, StorageFailedError
   */
  async ringForWriting(onMade?: (keyId: MasterKeyId) => Promise<unknown>): Promise<KeyRing> {
    if (this.#record.key_id !== null) return ringIn(await this.#finder.look());
    return this.#inTurn(async () => {
      const found = await this.#finder.look();
      const ring = 'empty' in found ? await this.#make(found.empty, onMade) : ringIn(found);
      await this.#useFirst(ring);
      return ring;
    });
  }

  /** @throws CodedError as `ring`, conflict where there is no key yet */
  async exportKey(): Promise<MasterKey> {
    const found = await this.#finder.look();
    if ('empty' in found) throw noKeyYet();
    return ringIn(found).sealing;
  }

  /**
   * Keeps a key that was exported: in the key file where that is the source, else in the keychain.
   *
   * @throws CodedError invalid_request, master_key_mismatch where it is none that a store needs, and as `ring`
   */
  async importKey(text: string): Promise<MasterKey> {
    const key = readMasterKey(text);
    if (key === undefined)
      throw new CodedError(
        'invalid_request',
        'This is not a master key: that is 43 characters of base64url and =.',
        {
          members: { errors: [{ path: 'key', message: 'must be 32 bytes as base64url' }] },
        },
      );
    return this.#inTurn(async () => {
      const slot = slotFor(key.keyId, this.#record);
      const place = await placeToImportTo(this.#sources);
      await asked(() => place.prove());
      await replaceKey(place, slot, key);
      this.#finder.forget();
      return key;
    });
  }

  /**
   * The first phase of a rotation: a new key is kept beside the old one, and seals from then on. Goes on with a rotation
   * that was cut short.
   *
   * @throws CodedError master_key_not_managed, conflict where there is no key yet, and as `ring`
   */
  async beginRotation(): Promise<KeyRing> {
    return this.#inTurn(async () => {
      const place = await placeToRotateIn(this.#sources);
      const found = await this.#finder.look();
      if ('empty' in found) throw noKeyYet();
      const { sealing: old } = ringIn(found);
      if (this.#record.rotation !== null) return ringIn(found);
      await asked(() => place.prove());
      const next = (await this.#leftNext(place, old)) ?? newMasterKey();
      await keepKey(place, 'next', next);
      const rotation = { from: old.keyId, to: next.keyId, started_at: timestamp(this.#options.clock()) };
      await this.#update((record) => ({ ...record, key_id: old.keyId, rotation }));
      return ringIn(await this.#finder.look());
    });
  }

  /**
   * The last phase, once all stores but those of `pending` are sealed with the new key: it takes the place of the old
   * one, which is kept for those only.
   *
   * @throws CodedError as `ring`; StorageFullError, StorageFailedError. Then the rotation is still under way.
   */
  async finishRotation(pending: readonly WorkspaceId[]): Promise<void> {
    await this.#inTurn(async () => {
      const { rotation } = this.#record;
      if (rotation === null) throw new Error('there is no rotation to finish');
      const place = await placeToRotateIn(this.#sources);
      const { sealing, opening } = ringIn(await this.#finder.look());
      // Where it is gone, the new key had taken its place already: all stores were sealed with that one then.
      const old = opening.find(({ keyId }) => keyId === rotation.from);
      const isKept = old !== undefined && pending.length > 0;
      if (isKept) await keepKey(place, old.keyId, old);
      await keepKey(place, 'current', sealing);
      const retired_at = timestamp(this.#options.clock());
      const kept = isKept ? [{ key_id: old.keyId, retired_at, ws_ids: [...pending] }] : [];
      await this.#update((record) => ({
        key_id: sealing.keyId,
        rotation: null,
        retired: [...record.retired.filter(({ key_id }) => key_id !== rotation.from), ...kept],
      }));
      await this.#drop(place, 'next');
      if (!isKept) await this.#drop(place, rotation.from);
    });
  }

  /** The workspace's store is sealed with the current key: what was kept for it alone is dropped. */
  async workspaceDone(wsId: WorkspaceId): Promise<void> {
    if (!this.#record.retired.some(({ ws_ids }) => ws_ids.includes(wsId))) return;
    await this.#inTurn(async () => {
      const left = this.#record.retired.map((key) => ({
        ...key,
        ws_ids: key.ws_ids.filter((id) => id !== wsId),
      }));
      const done = left.filter(({ ws_ids }) => ws_ids.length === 0);
      await this.#update((record) => ({ ...record, retired: left.filter((key) => !done.includes(key)) }));
      for (const place of done.length === 0 ? [] : this.#sources.places)
        for (const { key_id } of done) await this.#drop(place, key_id);
    });
  }

  get #record(): MasterKeyRecord {
    return this.#options.slice.value;
  }

  async #make(place: KeyPlace, onMade?: (keyId: MasterKeyId) => Promise<unknown>): Promise<KeyRing> {
    // Only a keychain that is open for certain has no key where none is found.
    await asked(() => place.prove());
    const found = await this.#finder.look();
    if (!('empty' in found)) return ringIn(found);
    const key = newMasterKey();
    await keepKey(place, 'current', key);
    await onMade?.(key.keyId);
    return { sealing: key, opening: [key] };
  }

  /** Writes the check value down before the key seals for the first time. */
  async #useFirst({ sealing }: KeyRing): Promise<void> {
    if (this.#record.key_id === null) await this.#update((record) => ({ ...record, key_id: sealing.keyId }));
  }

  /** The new key of a rotation that never began; another data folder of this keychain may have begun its own with it. */
  async #leftNext(place: KeyPlace, old: MasterKey): Promise<MasterKey | undefined> {
    const text = await asked(() => place.read('next'));
    const left = text === null ? undefined : readMasterKey(text);
    const used = [old.keyId, ...this.#record.retired.map(({ key_id }) => key_id)];
    return left !== undefined && used.includes(left.keyId) ? undefined : left;
  }

  /** What is left over does no harm: a later rotation finds it and puts it to use. */
  async #drop(place: KeyPlace, slot: KeySlot): Promise<void> {
    try {
      await place.remove(slot);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#options.onNotice(
        `A master key that is not needed any more could not be removed (${slot}): ${reason}`,
      );
    }
  }

  async #update(change: (record: MasterKeyRecord) => MasterKeyRecord): Promise<void> {
    await this.#options.slice.update((record) => ({ next: change(record), result: undefined }));
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#turn.then(work);
    // Its caller hears of a failure; who comes next only has to know that it is over.
    this.#turn = mine.catch(() => undefined);
    return mine;
  }
}
