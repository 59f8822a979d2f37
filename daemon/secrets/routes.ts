import * as z from 'zod';
import {
  ImportedSecrets,
  ImportSecretsRequest,
  RecoveredStore,
  RecoverStoreRequest,
  RevealedSecret,
  SecretListing,
  SecretName,
  SetSecret,
  SetSecretRequest,
  StoredSecretName,
} from '../contract/secrets.ts';
import { actorOf, type Call, type Route, route, type WorkspaceOf } from '../http/route.ts';
import type { Secrets } from './secrets.ts';
import type { SecretsCall } from './store-changes.ts';

export interface SecretRoutesOptions {
  readonly secrets: Secrets;
  readonly workspaceOf: WorkspaceOf;
}

const storeErrors = [
  'no_active_workspace',
  'unknown_workspace',
  'folder_not_found',
  'secrets_store_damaged',
  'master_key_unavailable',
  'master_key_locked',
] as const;
const changeErrors = [...storeErrors, 'path_outside_workspace', 'conflict'] as const;
const common = { scope: 'admin', limit: 'per-key', workspace: true } as const;

export function secretRoutes({ secrets, workspaceOf }: SecretRoutesOptions): Route[] {
  const callOf = (
    call: Pick<Call<unknown, unknown, unknown>, 'principal' | 'namedWorkspace'>,
  ): SecretsCall => ({
    workspace: workspaceOf(call),
    actor: actorOf(call.principal),
  });
  return [
    route({
      ...common,
      method: 'get',
      path: '/api/secrets',
      summary: 'Names and previews of the secrets of the workspace',
      request: {},
      response: { 200: { description: 'By name', schema: z.array(SecretListing) } },
      errors: storeErrors,
      handler: async (call) => ({ status: 200, body: await secrets.list(callOf(call)) }),
    }),
    route({
      ...common,
      method: 'post',
      path: '/api/secrets',
      summary: 'Set the variables of a .env text, all or none, or preview what that would do',
      request: { body: ImportSecretsRequest },
      response: { 200: { description: 'What was set, or would be', schema: ImportedSecrets } },
      errors: [...changeErrors, 'too_many_secrets'],
      handler: async (call) => ({
        status: 200,
        body: await secrets.import(callOf(call), call.body),
      }),
    }),
    route({
      ...common,
      method: 'post',
      path: '/api/secrets/recover-store',
      summary: 'Put the copy, or an empty store, in the place of one that can not be opened; that is kept',
      request: { body: RecoverStoreRequest },
      response: { 200: { description: 'What the store holds now', schema: RecoveredStore } },
      errors: changeErrors,
      handler: async (call) => ({ status: 200, body: await secrets.recover(callOf(call), call.body) }),
    }),
    route({
      ...common,
      method: 'post',
      path: '/api/secrets/:name',
      summary: 'Set a secret; commands get it as an environment variable of that name',
      request: { params: z.strictObject({ name: SecretName }), body: SetSecretRequest },
      response: {
        201: { description: 'It is new', schema: SetSecret },
        200: { description: 'It was there before', schema: SetSecret },
      },
      errors: [...changeErrors, 'too_many_secrets'],
      handler: async (call) => {
        const { created, secret } = await secrets.set(callOf(call), { ...call.params, ...call.body });
        return { status: created ? 201 : 200, body: secret };
      },
    }),
    route({
      ...common,
      method: 'get',
      path: '/api/secrets/:name',
      summary: 'Reveal a secret; the audit log says that it was',
      request: { params: z.strictObject({ name: StoredSecretName }) },
      response: { 200: { description: 'The value', schema: RevealedSecret } },
      errors: [...storeErrors, 'unknown_secret'],
      handler: async (call) => ({
        status: 200,
        body: await secrets.reveal(callOf(call), call.params.name),
      }),
    }),
    route({
      ...common,
      method: 'delete',
      path: '/api/secrets/:name',
      summary: 'Delete a secret',
      request: { params: z.strictObject({ name: StoredSecretName }) },
      response: { 204: { description: 'It is gone' } },
      errors: [...changeErrors, 'unknown_secret'],
      handler: async (call) => {
        await secrets.delete(callOf(call), call.params.name);
        return { status: 204 };
      },
    }),
  ];
}
