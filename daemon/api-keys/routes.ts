import * as z from 'zod';
import { CreatedKey, CreateKeyRequest, KeyListing } from '../contract/api-keys.ts';
import type { AuditRecord } from '../contract/audit-log.ts';
import type { PanelEvent } from '../contract/events.ts';
import { KeyId } from '../contract/ids.ts';
import { actorOf, type Route, route } from '../http/route.ts';
import type { ApiKeys } from './api-keys.ts';

export interface ApiKeyRoutesOptions {
  readonly keys: ApiKeys;
  readonly publish: (event: PanelEvent) => void;
  readonly audit: (record: AuditRecord) => Promise<unknown>;
  /** Ends what the key has under way: its jobs and its streams. */
  readonly onRevoked: (keyId: KeyId) => void;
}

export function apiKeyRoutes({ keys, publish, audit, onRevoked }: ApiKeyRoutesOptions): Route[] {
  return [
    route({
      method: 'get',
      path: '/api/account/api-keys',
      summary: 'The API keys, without their values',
      scope: 'admin',
      limit: 'per-key',
      request: {},
      response: { 200: { description: 'Newest first', schema: z.array(KeyListing) } },
      errors: [],
      handler: () => ({ status: 200, body: keys.list() }),
    }),
    route({
      method: 'post',
      path: '/api/account/api-keys',
      summary: 'Create an API key; its value is shown in this answer and never again',
      scope: 'admin',
      limit: 'per-key',
      request: { body: CreateKeyRequest },
      response: { 201: { description: 'The key', schema: CreatedKey } },
      errors: ['conflict', 'storage_full', 'storage_failed'],
      handler: async ({ body, principal }) => {
        const created = await keys.create(body, principal.scope);
        const { key_id } = created;
        await audit({ event: 'api_key.create', actor: actorOf(principal), key_id }).catch(async (error) => {
          // A key that the log does not know of must not be used; its value was not told yet.
          await keys.revoke(key_id);
          throw error;
        });
        const listing = keys.list().find((listed) => listed.key_id === key_id);
        if (listing !== undefined) publish({ type: 'key.created', key: listing });
        return { status: 201, body: created };
      },
    }),
    route({
      method: 'delete',
      path: '/api/account/api-keys/:key_id',
      summary: 'Revoke a key at once: its streams end within a second, and its commands with it',
      scope: 'admin',
      limit: 'per-key',
      request: { params: z.strictObject({ key_id: KeyId }) },
      response: { 204: { description: 'It is revoked' } },
      errors: ['unknown_key', 'storage_full', 'storage_failed'],
      handler: async ({ params, principal }) => {
        await keys.revoke(params.key_id);
        onRevoked(params.key_id);
        await audit({ event: 'api_key.revoke', actor: actorOf(principal), key_id: params.key_id });
        publish({ type: 'key.revoked', key_id: params.key_id });
        return { status: 204 };
      },
    }),
  ];
}
