import { existsSync } from 'node:fs';
import { CodedError } from '../contract/errors.ts';
import type { WorkspaceId } from '../contract/ids.ts';
import type { MasterKeyId } from '../contract/master-key.ts';
import type { DamagedStore } from '../contract/secrets.ts';
import type { EntryStat } from '../lib/entry-stat.ts';
import { isExpected } from '../lib/entry-stat.ts';
import type { FoundEntry } from '../lib/read-entry.ts';
import type { StateSlice } from '../lib/state-slice.ts';
import type { KeyRing, MasterKeys } from '../master-key/master-keys.ts';
import type { SecretMasks } from './secret-masks.ts';
import type { SecretsState } from './secrets-state.ts';
import {
  readCopy,
  readStoreFile,
  restoreStoreFile,
  type StoreFile,
  statStoreFile,
  writeCopy,
} from './store.ts';
import { openStore, type StoreContents, StoreFormatError, workspaceKey } from './store-format.ts';

export interface SecretsWorkspace {
  readonly wsId: WorkspaceId;
  readonly slug: string;
  /** Real path of the project folder. */
  readonly path: string;
}

export interface OpenedStore {
  /** What stands in the store's place; null where nothing does. */
  readonly entry: FoundEntry | null;
  readonly secrets: StoreContents['secrets'];
  /** What the next change has to have: above all that were ever seen. */
  readonly nextGeneration: number;
  /** Key that it is sealed with; null where there is no store. */
  readonly sealedBy: MasterKeyId | null;
}

export interface WorkspaceStoresOptions {
  /** The service's own folder of a workspace. */
  readonly folderOf: (workspace: SecretsWorkspace) => string;
  readonly keys: Pick<MasterKeys, 'ring'>;
  readonly slice: StateSlice<SecretsState>;
  readonly masks: SecretMasks;
  /** Makes `.service` in a project. */
  readonly ensureFolder: (projectPath: string) => Promise<unknown>;
  readonly onNotice: (message: string) => void;
}

interface Kept {
  readonly stat: EntryStat | null;
  readonly opened: OpenedStore;
}

type Reason = DamagedStore['reason'];

/** Opens the stores of workspaces, sees that none was swapped or put back, and keeps a copy of each. */
export class WorkspaceStores {
  readonly #options: WorkspaceStoresOptions;
  readonly #kept = new Map<WorkspaceId, Kept>();
  readonly #opening = new Map<WorkspaceId, Promise<OpenedStore>>();

  constructor(options: WorkspaceStoresOptions) {
    this.#options = options;
  }

  /**
   * The store as it is now; an empty one where there is none. One that was removed, by `git clean` for one, is put back
   * from the copy. All values are masked from here on.
   *
   * @throws CodedError secrets_store_damaged (members: DamagedStore), master_key_locked, master_key_unavailable,
   * folder_not_found; the system's error where the store may not be read
   */
  async open(workspace: SecretsWorkspace): Promise<OpenedStore> {
    const kept = this.#kept.get(workspace.wsId);
    if (kept !== undefined && isSame(kept.stat, statStoreFile(workspace.path))) return kept.opened;
    let opening = this.#opening.get(workspace.wsId);
    if (opening === undefined) {
      opening = this.#open(workspace).finally(() => this.#opening.delete(workspace.wsId));
      this.#opening.set(workspace.wsId, opening);
    }
    return opening;
  }

  /** The store as it stands on the disk, whatever was known of it; its copy is brought up to it. */
  async reopen(workspace: SecretsWorkspace): Promise<OpenedStore> {
    this.#kept.delete(workspace.wsId);
    await this.#opening.get(workspace.wsId)?.catch(() => undefined); // who waits for that one is told
    this.#kept.delete(workspace.wsId);
    return this.open(workspace);
  }

  /** Whether there is a store, or a copy of one; nothing is opened. */
  async exists(workspace: SecretsWorkspace): Promise<boolean> {
    if (statStoreFile(workspace.path) !== null) return true;
    return (await readCopy(this.#options.folderOf(workspace))) !== null;
  }

  /** Contents of the service's copy; null where there is none that can be opened. */
  async copyOf(workspace: SecretsWorkspace): Promise<StoreContents | null> {
    const token = await readCopy(this.#options.folderOf(workspace));
    return token === null ? null : this.contentsOf(workspace.wsId, token);
  }

  /** Contents of a token that was the workspace's store once; null where no key of ours opens it. */
  async contentsOf(wsId: WorkspaceId, token: string): Promise<StoreContents | null> {
    const ring = await this.#options.keys.ring();
    return ring === null ? null : (contentsOf(token, wsId, ring)?.contents ?? null);
  }

  /** The generation that a store has to have at least. */
  async watermark(workspace: SecretsWorkspace): Promise<number> {
    const copy = await this.copyOf(workspace);
    return Math.max(copy?.generation ?? 0, this.#options.slice.value.generations[workspace.wsId] ?? 0);
  }

  async #open(workspace: SecretsWorkspace): Promise<OpenedStore> {
    const { folderOf, masks, ensureFolder, onNotice } = this.#options;
    if (!existsSync(workspace.path))
      throw new CodedError('folder_not_found', 'The workspace folder is no longer there.');
    const place = readStoreFile(workspace.path);
    if (place === 'absent') {
      const copy = await readCopy(folderOf(workspace));
      if (copy === null) return this.#keep(workspace, null, emptyStore(await this.watermark(workspace)));
      await ensureFolder(workspace.path);
      await restoreStoreFile(workspace.path, copy);
      onNotice(
        `The secrets of ${workspace.slug} were removed from the project; they were put back from the copy.`,
      );
      return this.#open(workspace);
    }
    if ('fault' in place) throw await this.#damaged(workspace, 'unreadable', place.fault);
    const { contents, sealedBy } = await this.#unseal(workspace, place);
    const watermark = await this.watermark(workspace);
    if (contents.generation < watermark)
      throw await this.#damaged(
        workspace,
        'rolled_back',
        'An older state of the secrets was put in their place.',
      );
    masks.add(
      workspace.wsId,
      Array.from(contents.secrets.values(), ({ value }) => value),
    );
    await this.#follow(workspace, place.token, contents.generation);
    return this.#keep(workspace, place.entry, {
      entry: place.entry,
      secrets: contents.secrets,
      nextGeneration: contents.generation + 1,
      sealedBy,
    });
  }

  async #unseal(workspace: SecretsWorkspace, { token }: StoreFile) {
    const ring = await this.#options.keys.ring();
    if (ring === null)
      throw await this.#damaged(
        workspace,
        'wrong_key_or_altered',
        'There is no master key that made these secrets.',
      );
    try {
      const opened = contentsOf(token, workspace.wsId, ring);
      if (opened !== null) return opened;
    } catch (error) {
      if (error instanceof StoreFormatError)
        throw await this.#damaged(workspace, error.reason, error.message);
      throw error;
    }
    const detail =
      'The secrets were made with another key or for another workspace, or the file was altered.';
    throw await this.#damaged(workspace, 'wrong_key_or_altered', detail);
  }

  /** The copy and the generation follow the store; both are behind it only where a crash came between. */
  async #follow(workspace: SecretsWorkspace, token: string, generation: number): Promise<void> {
    const { folderOf, slice } = this.#options;
    const folder = folderOf(workspace);
    if ((await readCopy(folder)) !== token) await writeCopy(folder, token);
    if ((slice.value.generations[workspace.wsId] ?? 0) >= generation) return;
    slice.updateLazily((value) => ({
      ...value,
      generations: { ...value.generations, [workspace.wsId]: generation },
    }));
  }

  #keep(workspace: SecretsWorkspace, entry: FoundEntry | null, opened: OpenedStore): OpenedStore {
    this.#kept.set(workspace.wsId, { stat: entry?.stat ?? null, opened });
    return opened;
  }

  async #damaged(workspace: SecretsWorkspace, reason: Reason, detail: string): Promise<CodedError> {
    const copy = await this.copyOf(workspace).catch(() => null); // then there is none to offer
    const members: DamagedStore = {
      reason,
      copy: copy === null ? null : { secrets: copy.secrets.size, updated_at: newest(copy) },
    };
    return new CodedError('secrets_store_damaged', `${detail} Nothing was changed.`, { members });
  }
}

/** Null where none of the keys opens it. @throws StoreFormatError where one does, and it is no store of the workspace */
function contentsOf(
  token: string,
  wsId: WorkspaceId,
  { opening }: KeyRing,
): { readonly contents: StoreContents; readonly sealedBy: MasterKeyId } | null {
  for (const { bytes, keyId } of opening) {
    try {
      return { contents: openStore(workspaceKey(bytes, wsId), wsId, token), sealedBy: keyId };
    } catch (error) {
      if (error instanceof StoreFormatError && error.reason === 'wrong_key_or_altered') continue;
      throw error;
    }
  }
  return null;
}

function emptyStore(watermark: number): OpenedStore {
  return { entry: null, secrets: new Map(), nextGeneration: watermark + 1, sealedBy: null };
}

function newest({ secrets }: StoreContents): string | null {
  return (
    Array.from(secrets.values(), ({ updated_at }) => updated_at)
      .sort()
      .at(-1) ?? null
  );
}

/** A file that is written in place keeps its inode, and can be given its old time back; but not its change time. */
function isSame(known: EntryStat | null, now: EntryStat | null): boolean {
  return isExpected(now, known ?? 'absent') && known?.ctimeNs === now?.ctimeNs;
}
