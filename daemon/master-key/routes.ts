import type { AuditEvent } from '../contract/audit-log.ts';
import type { PanelEvent } from '../contract/events.ts';
import {
  ExportedMasterKey,
  ExportMasterKeyRequest,
  ImportMasterKeyRequest,
  MasterKeyStatus,
} from '../contract/master-key.ts';
import { RotatedMaster } from '../contract/secrets.ts';
import { actorOf, type Principal, type Route, route } from '../http/route.ts';
import { masterKeyText } from './key-format.ts';
import type { MasterKeys } from './master-keys.ts';
import type { Rotation, RotationOptions } from './rotation.ts';

export interface MasterKeyRoutesOptions extends Pick<RotationOptions, 'audit' | 'publish'> {
  readonly keys: MasterKeys;
  readonly rotation: Rotation;
}

/** The state of the master key, its recovery export and import, and its rotation. */
export function masterKeyRoutes({ keys, rotation, audit, publish }: MasterKeyRoutesOptions): Route[] {
  const log = (event: AuditEvent, principal: Principal, key_id: string) =>
    audit.append({ event, actor: actorOf(principal), key_id });
  const changed: PanelEvent = { type: 'master-key.changed' };
  return [
    route({
      method: 'get',
      path: '/api/account/master-key',
      summary: 'Where the master key of the secrets comes from, and whether it can be used',
      scope: 'admin',
      limit: 'per-key',
      request: {},
      response: { 200: { description: 'The state of the key', schema: MasterKeyStatus } },
      errors: [],
      handler: async () => ({ status: 200, body: await keys.status() }),
    }),
    route({
      method: 'post',
      path: '/api/account/master-key/export',
      summary: 'The master key itself, to be kept in a safe place; in the audit log before it leaves',
      scope: 'session',
      limit: 'none',
      request: { body: ExportMasterKeyRequest },
      response: { 200: { description: 'The key', schema: ExportedMasterKey } },
      errors: [...unusable, 'conflict'],
      handler: async ({ principal }) => {
        const key = await keys.exportKey();
        await log('master_key.export', principal, key.keyId);
        const body: ExportedMasterKey = { key: masterKeyText(key), key_id: key.keyId };
        return { status: 200, body };
      },
    }),
    route({
      method: 'post',
      path: '/api/account/master-key/import',
      summary:
        'Put an exported master key back: into the keychain, or into the key file where that is the source',
      scope: 'session',
      limit: 'none',
      request: { body: ImportMasterKeyRequest },
      response: { 200: { description: 'The state of the key from now on', schema: MasterKeyStatus } },
      errors: [...unusable, 'master_key_mismatch', 'master_key_not_managed', 'conflict'],
      handler: async ({ body, principal }) => {
        const { keyId } = await keys.importKey(body.key);
        await log('master_key.import', principal, keyId);
        publish(changed);
        return { status: 200, body: await keys.status() };
      },
    }),
    route({
      method: 'post',
      path: '/api/secrets/rotate-master',
      summary: 'Encrypt the secrets of all workspaces with a new master key, or finish what was cut short',
      scope: 'admin',
      limit: 'per-key',
      request: {},
      response: { 200: { description: 'What was encrypted anew', schema: RotatedMaster } },
      errors: [...unusable, 'master_key_not_managed', 'rotation_in_progress', 'conflict'],
      handler: async ({ principal }) => ({ status: 200, body: await rotation.rotate(actorOf(principal)) }),
    }),
  ];
}

const unusable = ['master_key_locked', 'master_key_unavailable', 'storage_full', 'storage_failed'] as const;
