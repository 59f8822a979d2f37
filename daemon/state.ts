import { existsSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { AccountRecord, SessionRecord } from './account/store.ts';
import { KeyRecord } from './api-keys/store.ts';
import { UserId } from './contract/ids.ts';
import { timestamp } from './lib/clock.ts';
import { type DurableJson, openDurableJson } from './lib/durable-json.ts';
import { newId } from './lib/ids.ts';
import { MasterKeyRecord, noMasterKeyRecord } from './master-key/store.ts';
import { ReceiptsState } from './receipts/receipts-state.ts';
import { SecretsState } from './secrets/secrets-state.ts';
import { WorkspacesState } from './workspaces/store.ts';

const State = z.object({
  version: z.literal(1),
  account: AccountRecord,
  sessions: z.array(SessionRecord).readonly(),
  keys: z.array(KeyRecord).readonly(),
  workspaces: WorkspacesState,
  // Not there in files from before receipts and secrets.
  receipts: ReceiptsState.default({ checkpoint_key: null, checkpoints: {} }),
  master_key: MasterKeyRecord.default(noMasterKeyRecord),
  secrets: SecretsState.default({ generations: {} }),
});
export type State = z.infer<typeof State>;

export interface OpenStateOptions {
  readonly dataDir: string;
  readonly nowMs: number;
  /** Told when the file did not parse and was set aside. */
  readonly onSetAside: (message: string) => void;
  /** Told when the disk failed a write: nothing more can be changed until a restart. */
  readonly onFatal: (error: Error) => void;
}

/** `<data>/state.json`: what the daemon must remember. Each capability is handed its own slice of it. */
export async function openState({
  dataDir,
  nowMs,
  onSetAside,
  onFatal,
}: OpenStateOptions): Promise<DurableJson<State>> {
  const path = join(dataDir, 'state.json');
  const state = await openDurableJson<State>({
    path,
    parse: (raw) => State.parse(raw),
    initial: () => ({
      version: 1,
      account: { user_id: UserId.parse(newId('u')), created_at: timestamp(nowMs) },
      sessions: [],
      keys: [],
      workspaces: { list: [], active: {} },
      receipts: { checkpoint_key: null, checkpoints: {} },
      master_key: noMasterKeyRecord,
      secrets: { generations: {} },
    }),
    onSetAside: ({ movedTo, reason }) =>
      onSetAside(
        `${path} could not be read (${reason}). It was kept as ${movedTo}, and the daemon started without keys, sessions and ` +
          'workspaces. To go back to it, stop the daemon, mend that file and put it back under its old name.',
      ),
    onFatal,
  });
  // Written at once, so that the account keeps its id from the first start on.
  if (!existsSync(path)) await state.update((value) => ({ next: { ...value }, result: undefined }));
  return state;
}
