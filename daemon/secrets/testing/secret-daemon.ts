import { randomBytes } from 'node:crypto';
import type { CreatedKey } from '../../contract/api-keys.ts';
import type { LoadedProject } from '../../contract/projects.ts';
import { type BootedDaemon, type BootOptions, boot } from '../../testing/boot.ts';
import type { Client } from '../../testing/client.ts';

export interface SecretDaemon extends BootedDaemon {
  /** Speaks with an admin key that has loaded `projectDir`. */
  readonly admin: Client & { readonly key: CreatedKey; readonly project: LoadedProject };
  readonly masterKey: string;
}

export function randomMasterKey(): string {
  return randomBytes(32).toString('base64url');
}

/** A real daemon that has its master key from the environment. */
export async function bootWithKey({
  masterKey = randomMasterKey(),
  ...options
}: BootOptions & { readonly masterKey?: string } = {}): Promise<SecretDaemon> {
  const environment = { ...process.env, SERVICE_SECRET_KEY: masterKey };
  const booted = await boot({ ...options, environment });
  const keyed = await booted.keyed('admin');
  const project = await keyed.json<LoadedProject>('POST', '/api/project/load', { path: booted.projectDir });
  return { ...booted, masterKey, admin: { ...keyed, project } };
}
