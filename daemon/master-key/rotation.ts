import type { AuditRecord } from '../contract/audit-log.ts';
import { CodedError } from '../contract/errors.ts';
import type { PanelEvent } from '../contract/events.ts';
import type { WorkspaceId } from '../contract/ids.ts';
import type { Actor } from '../contract/receipts.ts';
import type { RotatedMaster } from '../contract/secrets.ts';
import type { KeyRing, MasterKeys } from './master-keys.ts';

/** The stores of all workspaces, as a rotation needs them. */
export interface RotationStores {
  /** Every workspace, whether it has a store or not: its first one may be under way with the old key. */
  list(): Promise<readonly { readonly wsId: WorkspaceId; readonly slug: string }[]>;
  /**
   * In the workspace's own turn: seals the store and its copies with `ring.sealing`, durably, and reads them back. `done`
   * where that was so already; `none` where there is no store. A failure ends the rotation, which can be gone on with.
   */
  reseal(wsId: WorkspaceId, ring: KeyRing, actor: Actor): Promise<'done' | 'none' | 'unreachable'>;
}

export interface RotationOptions {
  readonly keys: MasterKeys;
  readonly stores: RotationStores;
  readonly audit: { append(record: AuditRecord): Promise<unknown> };
  readonly publish: (event: PanelEvent) => void;
}

/** Exchanges the master key. Cut short at any point, every store can be opened, and rotating again goes on. */
export class Rotation {
  readonly #options: RotationOptions;
  #isRunning = false;

  constructor(options: RotationOptions) {
    this.#options = options;
  }

  /**
   * Encrypts all stores with a new master key, or finishes a rotation that was cut short.
   *
   * @throws CodedError rotation_in_progress, master_key_not_managed, master_key_locked, master_key_unavailable, conflict
   *   where there is no key yet; StorageFullError, StorageFailedError
   */
  async rotate(actor: Actor): Promise<RotatedMaster> {
    if (this.#isRunning)
      throw new CodedError('rotation_in_progress', 'The master key is being rotated already.');
    this.#isRunning = true;
    const { keys, audit, publish } = this.#options;
    try {
      const ring = await keys.beginRotation();
      const { rotated, pending } = await this.#resealAll(ring, actor);
      await keys.finishRotation(pending.map(({ ws_id }) => ws_id));
      const key_id = ring.sealing.keyId;
      await audit.append({ event: 'master_key.rotate', actor, key_id });
      return { rotated, key_id, pending };
    } finally {
      this.#isRunning = false;
      const { done, total } = keys.progress ?? { done: 0, total: 0 };
      keys.progress = null;
      publish({ type: 'rotation.progress', done, total, ended: true });
      publish({ type: 'master-key.changed' });
    }
  }

  async #resealAll(ring: KeyRing, actor: Actor) {
    const { keys, stores, publish } = this.#options;
    const workspaces = await stores.list();
    const pending: RotatedMaster['pending'] = [];
    let rotated = 0;
    const report = (done: number) => {
      keys.progress = { done, total: workspaces.length };
      publish({ type: 'rotation.progress', ...keys.progress, ended: false });
    };
    report(0);
    for (const [index, { wsId, slug }] of workspaces.entries()) {
      const outcome = await stores.reseal(wsId, ring, actor);
      if (outcome === 'done') rotated += 1;
      if (outcome === 'unreachable') pending.push({ ws_id: wsId, slug });
      else await keys.workspaceDone(wsId);
      report(index + 1);
    }
    return { rotated, pending };
  }
}
