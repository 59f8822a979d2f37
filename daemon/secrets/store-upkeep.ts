import { existsSync } from 'node:fs';
import { CodedError } from '../contract/errors.ts';
import type { RecoveredStore, RecoverStoreRequest } from '../contract/secrets.ts';
import type { Clock } from '../lib/clock.ts';
import type { MasterKeys } from '../master-key/master-keys.ts';
import { listingOf } from './preview.ts';
import { asideStep, readStoreFile, storePath } from './store.ts';
import { type SecretsCall, type SecretsMap, type StoreChanges, seal } from './store-changes.ts';
import type { OpenedStore, SecretsWorkspace, WorkspaceStores } from './workspace-stores.ts';

export interface StoreUpkeepOptions {
  readonly stores: WorkspaceStores;
  readonly changes: StoreChanges;
  readonly keys: Pick<MasterKeys, 'ring' | 'ringForWriting' | 'workspaceDone'>;
  readonly clock: Clock;
  readonly onNotice: (message: string) => void;
}

/** What a store needs beside its secrets' being set and read: rotation, rollback, mending. */
export class StoreUpkeep {
  readonly #options: StoreUpkeepOptions;

  constructor(options: StoreUpkeepOptions) {
    this.#options = options;
  }

  /** The store, sealed with the current key: one that a rotation did not reach is sealed anew first. */
  async open(call: SecretsCall): Promise<OpenedStore> {
    const { stores, keys } = this.#options;
    const opened = await stores.open(call.workspace);
    if (opened.sealedBy === null) return opened;
    const ring = await keys.ring();
    if (ring === null) return opened;
    if (opened.sealedBy !== ring.sealing.keyId) await this.#seal(call);
    // Also where it is sealed already: a crash may have come between that and this.
    await keys.workspaceDone(call.workspace.wsId);
    return stores.open(call.workspace);
  }

  /** Opens the store so that its values are masked; where that can't be done, it is at the first call that needs it. */
  async prepareMasks(workspace: SecretsWorkspace): Promise<void> {
    try {
      await this.#options.stores.open(workspace);
    } catch (error) {
      if (!(error instanceof CodedError)) throw error;
      this.#options.onNotice(`The secrets of ${workspace.slug} can not be opened: ${error.message}`);
    }
  }

  /** A mutation has changed the store otherwise, a rollback for one: the copy follows it. */
  async refresh(workspace: SecretsWorkspace): Promise<void> {
    await this.#options.stores.reopen(workspace);
  }

  /**
   * What a rollback is to write where the store held `token` once (null: where there was none): the secrets from then,
   * sealed anew, for an old generation would be refused. Null where no key of ours opens it.
   */
  async tokenForRollback(workspace: SecretsWorkspace, token: string | null): Promise<string | null> {
    const { stores, keys } = this.#options;
    const secrets: SecretsMap | undefined =
      token === null ? new Map() : (await stores.contentsOf(workspace.wsId, token))?.secrets;
    if (secrets === undefined) return null;
    const { sealing } = await keys.ringForWriting();
    return seal(workspace, sealing.bytes, { generation: (await stores.watermark(workspace)) + 1, secrets });
  }

  /**
   * Seals the store with the current key, and reads it again; `unreachable`: the project is not there, or its store can't
   * be opened, and needs the old key still.
   */
  async reseal(call: SecretsCall): Promise<'done' | 'none' | 'unreachable'> {
    const { stores, changes } = this.#options;
    const { workspace } = call;
    // In its turn: a first store may be under way.
    if (!(await changes.inTurn(workspace.wsId, () => stores.exists(workspace)))) return 'none';
    if (!existsSync(workspace.path)) return 'unreachable';
    try {
      await this.#seal(call);
      return 'done';
    } catch (error) {
      if (!(error instanceof CodedError) || error.code !== 'secrets_store_damaged') throw error;
      return 'unreachable';
    }
  }

  /**
   * Puts the service's copy, or an empty store, in the place of one that can't be opened, which is kept under another name.
   *
   * @throws CodedError conflict where the store can be opened, or what stands there is no file, or there is no copy
   */
  async recover(call: SecretsCall, { use }: RecoverStoreRequest): Promise<RecoveredStore> {
    const { stores, changes, clock } = this.#options;
    const { workspace } = call;
    await this.#expectDamaged(workspace);
    const copy = use === 'copy' ? await stores.copyOf(workspace) : null;
    if (use === 'copy' && copy === null)
      throw new CodedError('conflict', 'There is no copy of the secrets that can be opened.');
    const secrets: SecretsMap = copy?.secrets ?? new Map();
    const place = readStoreFile(workspace.path);
    if (place === 'absent' || 'fault' in place)
      throw new CodedError('conflict', `What stands in the place of ${storePath} is no file; move it away.`);
    const aside = asideStep(place, clock());
    const receiptId = await changes.change(call, {
      tool: 'secret.recover',
      change: () => secrets,
      find: async () => ({
        entry: place.entry,
        secrets: new Map(),
        nextGeneration: (await stores.watermark(workspace)) + 1,
        sealedBy: null,
      }),
      before: [aside],
    });
    return { secrets: listingOf(secrets), receipt_id: receiptId, set_aside: aside.path };
  }

  async #expectDamaged(workspace: SecretsWorkspace): Promise<void> {
    try {
      await this.#options.stores.reopen(workspace);
    } catch (error) {
      if (error instanceof CodedError && error.code === 'secrets_store_damaged') return;
      throw error;
    }
    throw new CodedError('conflict', 'The secrets of this workspace can be opened; nothing was changed.');
  }

  async #seal(call: SecretsCall): Promise<void> {
    const { stores, changes, keys } = this.#options;
    await changes.change(call, {
      tool: 'secret.rotate',
      change: ({ secrets, sealedBy }, { sealing }) =>
        sealedBy === null || sealedBy === sealing.keyId ? null : secrets,
    });
    const { sealedBy } = await stores.reopen(call.workspace);
    const { sealing } = await keys.ringForWriting();
    if (sealedBy !== null && sealedBy !== sealing.keyId)
      throw new CodedError('conflict', 'The secrets were changed by something else during the rotation.');
  }
}
