import { CodedError } from '../contract/errors.ts';
import type { ReceiptId, WorkspaceId } from '../contract/ids.ts';
import type { MasterKeyId } from '../contract/master-key.ts';
import type { Actor, Tool } from '../contract/receipts.ts';
import { maxSecrets, maxStoreBytes } from '../contract/secrets.ts';
import type { KeyRing, MasterKeys } from '../master-key/master-keys.ts';
import type { Door, Step } from '../mutations/mutation-plan.ts';
import type { SecretMasks } from './secret-masks.ts';
import { storePath, storeStep } from './store.ts';
import { type StoredSecret, sealStore, workspaceKey } from './store-format.ts';
import type { OpenedStore, SecretsWorkspace, WorkspaceStores } from './workspace-stores.ts';

/** Where a call works, and who makes it. */
export interface SecretsCall {
  readonly workspace: SecretsWorkspace;
  readonly actor: Actor;
}

export type SecretsMap = ReadonlyMap<string, StoredSecret>;

export interface StoreChangesOptions {
  readonly stores: WorkspaceStores;
  readonly keys: Pick<MasterKeys, 'ringForWriting'>;
  readonly door: Door;
  readonly masks: SecretMasks;
  /** Makes `.service` in a project. */
  readonly ensureFolder: (projectPath: string) => Promise<unknown>;
  /** Waited for where a change is the first of all, and a master key was made for it. */
  readonly onKeyMade: (actor: Actor, keyId: MasterKeyId) => Promise<unknown>;
}

export interface StoreChange {
  readonly tool: Tool;
  /** What the store is to hold; null: it stays as it is. Called again where the store changed in the meantime. */
  readonly change: (opened: OpenedStore, ring: KeyRing) => SecretsMap | null;
  /** What is taken for the store from before, where that is not what stands in its place. */
  readonly find?: () => Promise<OpenedStore>;
  /** Steps that come before the store is written. */
  readonly before?: readonly Step[];
}

/** Changes stores: every change is a mutation of the workspace, with its receipt. */
export class StoreChanges {
  readonly #options: StoreChangesOptions;
  /** A change asks for the key, then seals with it: a rotation must not come between. */
  readonly #turns = new Map<WorkspaceId, Promise<unknown>>();

  constructor(options: StoreChangesOptions) {
    this.#options = options;
  }

  /**
   * Resolves with the receipt when the change, its receipt and the copy are durable; null where nothing was to change.
   *
   * @throws CodedError too_many_secrets, master_key_locked, master_key_unavailable; what `change` throws, and the door
   */
  change({ workspace, actor }: SecretsCall, wanted: StoreChange): Promise<ReceiptId | null> {
    const { door, keys, stores, onKeyMade } = this.#options;
    const { tool, change, before = [], find = () => stores.open(workspace) } = wanted;
    const plan = async () => {
      const ring = await keys.ringForWriting();
      const opened = await find();
      const secrets = change(opened, ring);
      if (secrets === null) return [];
      return [...before, await this.#step(workspace, { opened, ring, secrets })];
    };
    return this.inTurn(workspace.wsId, async () => {
      // Asked before the door is: a keychain can take its time, and the path is locked meanwhile.
      await keys.ringForWriting((keyId) => onKeyMade(actor, keyId));
      const { receipt } = await door.mutate(workspace, { actor, tool, locks: [storePath], plan });
      if (receipt !== null) await stores.reopen(workspace);
      return receipt?.receipt_id ?? null;
    });
  }

  /** Work that no change of the workspace's store comes between. */
  inTurn<T>(wsId: WorkspaceId, work: () => Promise<T>): Promise<T> {
    const turn = (this.#turns.get(wsId) ?? Promise.resolve()).then(work);
    const settled = turn.catch(() => undefined); // its caller is told
    this.#turns.set(wsId, settled);
    void settled.then(() => {
      if (this.#turns.get(wsId) === settled) this.#turns.delete(wsId);
    });
    return turn;
  }

  async #step(
    workspace: SecretsWorkspace,
    {
      opened,
      ring,
      secrets,
    }: { readonly opened: OpenedStore; readonly ring: KeyRing; readonly secrets: SecretsMap },
  ): Promise<Step> {
    const { masks, ensureFolder } = this.#options;
    checkSize(secrets);
    // Before a command can have them.
    masks.add(
      workspace.wsId,
      Array.from(secrets.values(), ({ value }) => value),
    );
    await ensureFolder(workspace.path);
    return storeStep(
      opened.entry,
      seal(workspace, ring.sealing.bytes, { generation: opened.nextGeneration, secrets }),
    );
  }
}

/** The token of a store. */
export function seal(
  { wsId }: SecretsWorkspace,
  master: Uint8Array,
  contents: { readonly generation: number; readonly secrets: SecretsMap },
): string {
  return sealStore(workspaceKey(master, wsId), wsId, contents);
}

function checkSize(secrets: SecretsMap): void {
  if (secrets.size > maxSecrets)
    throw new CodedError('too_many_secrets', `A workspace holds at most ${maxSecrets} secrets.`);
  let bytes = 0;
  for (const [name, { value }] of secrets) bytes += name.length + Buffer.byteLength(value);
  if (bytes > maxStoreBytes)
    throw new CodedError(
      'too_many_secrets',
      'The secrets of a workspace take at most 1 MiB together: no command could be started with more.',
    );
}
