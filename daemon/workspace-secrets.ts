import type { AuditRecord } from './contract/audit-log.ts';
import type { PanelEvent } from './contract/events.ts';
import type { WorkspaceId } from './contract/ids.ts';
import type { Clock } from './lib/clock.ts';
import { systemKeychain } from './lib/keychain.ts';
import type { StateSlice } from './lib/state-slice.ts';
import { Masks } from './masking/masks.ts';
import { StreamMasker } from './masking/stream-masker.ts';
import { defaultKeyFile, MasterKeys } from './master-key/master-keys.ts';
import { Rotation } from './master-key/rotation.ts';
import type { MasterKeyRecord } from './master-key/store.ts';
import type { Door } from './mutations/mutation-plan.ts';
import { SecretMasks } from './secrets/secret-masks.ts';
import { Secrets } from './secrets/secrets.ts';
import type { SecretsState } from './secrets/secrets-state.ts';
import { hasAnyCopy, storePath } from './secrets/store.ts';
import { StoreChanges } from './secrets/store-changes.ts';
import { StoreUpkeep } from './secrets/store-upkeep.ts';
import { type SecretsWorkspace, WorkspaceStores } from './secrets/workspace-stores.ts';
import type { CommandSecrets } from './shell/command-secrets.ts';
import type { ShellJobsOptions } from './shell/shell-jobs.ts';
import type { DoorSecrets } from './workspace-doors.ts';
import { ensureServiceFolder } from './workspaces/service-folder.ts';
import { workspaceFolder } from './workspaces/store.ts';

export interface WorkspaceSecretsOptions {
  readonly dataDir: string;
  readonly environmentKey: string | undefined;
  readonly keyFile: string | undefined;
  /** Whether the system's keychain may be asked. */
  readonly useKeychain: boolean;
  readonly slices: {
    readonly masterKey: StateSlice<MasterKeyRecord>;
    readonly secrets: StateSlice<SecretsState>;
  };
  readonly masks: SecretMasks;
  readonly workspaces: () => readonly SecretsWorkspace[];
  /** Asked for when it is first needed: doors need the secrets in turn. */
  readonly door: () => Door;
  readonly audit: { append(record: AuditRecord): Promise<unknown> };
  readonly publish: (event: PanelEvent) => void;
  readonly clock: Clock;
  readonly notice: (message: string) => void;
}

export interface WorkspaceSecrets {
  readonly keys: MasterKeys;
  readonly rotation: Rotation;
  readonly secrets: Secrets;
  readonly forDoors: DoorSecrets;
  readonly forCommands: ShellJobsOptions['secretsOf'];
}

export function newSecretMasks(): SecretMasks {
  return new SecretMasks(() => new Masks());
}

/** Puts together what the secrets of all workspaces need: keys, stores, rotation, masks. Nothing is opened yet. */
export function workspaceSecrets(options: WorkspaceSecretsOptions): WorkspaceSecrets {
  const { dataDir, slices, masks, workspaces, door, audit, publish, clock, notice } = options;
  const find = (wsId: WorkspaceId) => workspaces().find((workspace) => workspace.wsId === wsId);
  const keys = new MasterKeys({
    environmentKey: options.environmentKey,
    keyFile: options.keyFile ?? defaultKeyFile,
    keychain: options.useKeychain ? (account) => systemKeychain('tallystick', account) : undefined,
    slice: slices.masterKey,
    hasStores: async () =>
      hasAnyCopy(dataDir) ||
      (await Promise.all(workspaces().map((one) => stores.exists(one)))).includes(true),
    slugOf: (wsId) => find(wsId)?.slug,
    clock,
    onNotice: notice,
  });
  const stores = new WorkspaceStores({
    folderOf: ({ slug }) => workspaceFolder(dataDir, slug),
    keys,
    slice: slices.secrets,
    masks,
    ensureFolder: ensureServiceFolder,
    onNotice: notice,
  });
  const changes = new StoreChanges({
    stores,
    keys,
    door: { mutate: (workspace, request) => door().mutate(workspace, request) },
    masks,
    ensureFolder: ensureServiceFolder,
    onKeyMade: async (actor, keyId) => {
      await audit.append({ event: 'master_key.create', actor, key_id: keyId });
      publish({ type: 'master-key.changed' });
    },
  });
  const upkeep = new StoreUpkeep({ stores, changes, keys, clock, onNotice: notice });
  const secrets = new Secrets({
    upkeep,
    changes,
    masks,
    audit: (record) => audit.append(record),
    publish,
    clock,
  });
  const rotation = new Rotation({
    keys,
    audit,
    publish,
    stores: {
      list: async () => workspaces(),
      reseal: async (wsId, _ring, actor) => {
        const workspace = find(wsId);
        return workspace === undefined ? 'none' : upkeep.reseal({ workspace, actor });
      },
    },
  });
  const forDoors: DoorSecrets = {
    mask: (wsId, text) => masks.of(wsId).text(text),
    prepare: (workspace) => upkeep.prepareMasks(workspace),
    replacementOf: (workspace) => async (path, content) => {
      if (path !== storePath) return undefined;
      const token = await upkeep.tokenForRollback(workspace, content?.toString('latin1') ?? null);
      return token === null ? null : Buffer.from(token, 'latin1');
    },
    onReceipt: (workspace, { action, files }) => {
      if (action !== 'rollback' || !files.some(({ path }) => path === storePath)) return;
      upkeep.refresh(workspace).then(
        () => publish({ type: 'secrets.changed', ws_id: workspace.wsId }),
        (error: unknown) => notice(`The secrets of ${workspace.slug} can not be opened: ${String(error)}`),
      );
    },
  };
  const forCommands = async (
    call: Parameters<ShellJobsOptions['secretsOf']>[0],
    names: readonly string[] | undefined,
  ): Promise<CommandSecrets> => {
    const { variables, masks: own } = await secrets.forCommand(call, names);
    return { variables, mask: (text) => own.text(text), newMasker: () => new StreamMasker(own) };
  };
  return { keys, rotation, secrets, forDoors, forCommands };
}
