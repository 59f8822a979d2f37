import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { PanelEvent } from './contract/events.ts';
import type { UserId } from './contract/ids.ts';
import type { Receipt } from './contract/receipts.ts';
import type { Clock } from './lib/clock.ts';
import { systemKeychain } from './lib/keychain.ts';
import type { Logger } from './lib/logger.ts';
import type { StateSlice } from './lib/state-slice.ts';
import { Mutations, type Workspace } from './mutations/mutations.ts';
import type { Replacement } from './mutations/rollback-plan.ts';
import { leftReceipts, WorkspaceDoor } from './mutations/workspace-door.ts';
import { receiptIdOf, type SealedReceipt, sealReceipt } from './receipts/receipt-format.ts';
import { ReceiptStore } from './receipts/receipt-store.ts';
import type { ReceiptsState } from './receipts/receipts-state.ts';
import { openSigningKey, type SigningKey } from './receipts/signing-key.ts';
import { summarize } from './receipts/summary.ts';
import { verifyRun } from './receipts/verify-run.ts';
import { defaultSnapshotLimits, TreeKeeper } from './snapshots/tree-keeper.ts';
import { linkIntoService } from './workspaces/service-folder.ts';
import { readSettings } from './workspaces/settings.ts';
import { workspaceFolder } from './workspaces/store.ts';

export interface WorkspaceDoorsOptions {
  readonly dataDir: string;
  /** Whether the system's keychain may be asked. */
  readonly useKeychain: boolean;
  readonly userId: UserId;
  readonly slice: StateSlice<ReceiptsState>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly publish: (event: PanelEvent) => void;
  readonly notice: (message: string) => void;
  readonly onFatal: (error: Error) => void;
  readonly secrets: DoorSecrets;
}

/** What a door needs to know of the workspace's secrets. */
export interface DoorSecrets {
  /** Puts `***` in their place. */
  readonly mask: (wsId: Workspace['wsId'], text: string) => string;
  /** Called before the door opens, so that they are masked from its first receipt on. */
  readonly prepare: (workspace: Workspace) => Promise<void>;
  readonly replacementOf: (workspace: Workspace) => Replacement;
  readonly onReceipt: (workspace: Workspace, receipt: Receipt) => void;
}

/** Puts together what a workspace's mutations need: the chain, the snapshots, the journal. Nothing is opened yet. */
export function workspaceDoors(options: WorkspaceDoorsOptions): Mutations {
  const { dataDir, userId, slice, clock, logger, publish, notice, onFatal, secrets } = options;
  const signingKey = signingKeyOnce(options);
  const openStore = async ({ wsId, slug }: Workspace, pending: readonly SealedReceipt[]) =>
    ReceiptStore.open({
      folder: join(workspaceFolder(dataDir, slug), 'receipts'),
      wsId,
      signingKey: await signingKey(),
      trusted: trustedOf(slice, wsId),
      pending,
      onNotice: notice,
    });
  const openDoor = async (workspace: Workspace) => {
    const { wsId, slug, path } = workspace;
    await secrets.prepare(workspace);
    const { snapshots } = await readSettings(path, notice);
    const folder = workspaceFolder(dataDir, slug);
    let linked = false;
    return WorkspaceDoor.open({
      wsId,
      root: path,
      folder,
      userId,
      clock,
      format: { receiptIdOf, sealReceipt },
      mask: (text) => secrets.mask(wsId, text),
      openStore: (pending) => openStore(workspace, pending),
      openKeeper: (interrupted) =>
        TreeKeeper.open({
          root: path,
          folder: join(folder, 'snapshots'),
          logger,
          interrupted,
          limits: {
            maxCount: snapshots?.max_count ?? defaultSnapshotLimits.maxCount,
            maxBytes: snapshots?.max_bytes ?? defaultSnapshotLimits.maxBytes,
          },
          onNotice: ({ detail }) => notice(detail),
        }),
      syncTrusted: () => slice.update((value) => ({ next: { ...value }, result: undefined })),
      onReceipt: (receipt) => {
        publish({ type: 'receipt.created', ws_id: wsId, receipt: summarize(receipt) });
        secrets.onReceipt(workspace, receipt);
        if (linked) return;
        linked = true;
        void linkServiceFolders(path, folder).catch((error: unknown) =>
          logger.warn({ err: error, wsId }, 'the .service folder of the project could not be made'),
        );
      },
      onNotice: notice,
      onFatal,
    });
  };
  // Of changes that a crash cut short, those that were made have their receipt; the others wait for the folder.
  const openStoreAlone = (workspace: Workspace) =>
    openStore(workspace, leftReceipts(workspaceFolder(dataDir, workspace.slug), { sealReceipt }));
  return new Mutations({
    openDoor,
    openStore: openStoreAlone,
    verifyRun,
    replacementOf: secrets.replacementOf,
  });
}

/** Workspaces whose last daemon did not end in order, with something in their journal. */
export function hasLeftovers(dataDir: string, slug: string): boolean {
  const intents = join(workspaceFolder(dataDir, slug), 'intents');
  return existsSync(intents) && readdirSync(intents).some((name) => name.endsWith('.log'));
}

async function linkServiceFolders(projectPath: string, folder: string): Promise<void> {
  for (const name of ['receipts', 'snapshots']) await linkIntoService(projectPath, name, join(folder, name));
}

/** The key is looked for when the first chain is opened: a keychain can take its time. */
function signingKeyOnce({
  dataDir,
  useKeychain,
  slice,
  notice,
}: WorkspaceDoorsOptions): () => Promise<SigningKey> {
  let opening: Promise<SigningKey> | undefined;
  const open = async () => {
    const known = slice.value.checkpoint_key;
    const keychain = useKeychain ? systemKeychain('tallystick', 'checkpoint-key') : undefined;
    const key = await openSigningKey({
      dataDir,
      known,
      onNotice: notice,
      ...(keychain === undefined ? {} : { keychain }),
    });
    if (known === null && key.verifierKey !== null) {
      const { verifierKey } = key;
      await slice.update((value) => ({ next: { ...value, checkpoint_key: verifierKey }, result: undefined }));
    }
    return key;
  };
  return () => {
    opening ??= open();
    opening.catch(() => {
      opening = undefined;
    });
    return opening;
  };
}

function trustedOf(slice: StateSlice<ReceiptsState>, wsId: Workspace['wsId']) {
  return {
    get: () => slice.value.checkpoints[wsId] ?? null,
    set: (checkpoint: { readonly count: number; readonly head: string }) =>
      slice.updateLazily((value) => ({
        ...value,
        checkpoints: { ...value.checkpoints, [wsId]: { ...checkpoint } },
      })),
  };
}
