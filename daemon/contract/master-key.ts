import * as z from 'zod';
import { Timestamp, WorkspaceId } from './ids.ts';

export const MasterKeyState = z.enum(['ready', 'locked', 'missing']).meta({ id: 'MasterKeyState' });
export type MasterKeyState = z.infer<typeof MasterKeyState>;

export const MasterKeySource = z.enum(['environment', 'file', 'keychain']).meta({ id: 'MasterKeySource' });
export type MasterKeySource = z.infer<typeof MasterKeySource>;

/** `mk_` and 16 hexadecimal digits derived from the key, which they do not give away. */
export const MasterKeyId = z
  .string()
  .regex(/^mk_[0-9a-f]{16}$/)
  .meta({ id: 'MasterKeyId' });
export type MasterKeyId = z.infer<typeof MasterKeyId>;

export const MasterKeyStatus = z
  .object({
    state: MasterKeyState.describe(
      'ready: secrets can be used, or the first one will make the key; locked: the keychain has to be unlocked; missing: there is no key, or not the one that the stores were made with',
    ),
    source: MasterKeySource.nullable().describe(
      'Where the key comes from, or would be made; null where nowhere',
    ),
    key_id: MasterKeyId.nullable().describe(
      'Of the key that the stores are made with; null before the first',
    ),
    detail: z.string().nullable().describe('What is wrong and what to do; null where all is well'),
    managed: z.boolean().describe('Whether the daemon can rotate it; one from the environment it can not'),
    rotation: z
      .object({ started_at: Timestamp, done: z.int(), total: z.int(), running: z.boolean() })
      .nullable()
      .describe('A rotation that is under way, or was cut short: rotating again finishes it'),
    retired: z
      .array(
        z.object({
          key_id: MasterKeyId,
          retired_at: Timestamp,
          workspaces: z.array(z.object({ ws_id: WorkspaceId, slug: z.string() })),
        }),
      )
      .describe('Old keys that are kept for workspaces that could not be reached during a rotation'),
  })
  .meta({ id: 'MasterKeyStatus' });
export type MasterKeyStatus = z.infer<typeof MasterKeyStatus>;

export const ExportMasterKeyRequest = z
  .strictObject({ confirm: z.literal(true) })
  .meta({ id: 'ExportMasterKeyRequest' });

export const ExportedMasterKey = z
  .object({ key: z.string().describe('32 bytes as base64url: a Fernet key'), key_id: MasterKeyId })
  .meta({ id: 'ExportedMasterKey' });
export type ExportedMasterKey = z.infer<typeof ExportedMasterKey>;

export const ImportMasterKeyRequest = z
  .strictObject({ key: z.string().max(256) })
  .meta({ id: 'ImportMasterKeyRequest' });
export type ImportMasterKeyRequest = z.infer<typeof ImportMasterKeyRequest>;
