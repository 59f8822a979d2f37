import type { AuditEvent, AuditRecord } from '../contract/audit-log.ts';
import { CodedError } from '../contract/errors.ts';
import type { PanelEvent } from '../contract/events.ts';
import {
  type ImportedSecrets,
  type ImportSecretsRequest,
  type RecoveredStore,
  type RecoverStoreRequest,
  type RevealedSecret,
  type SecretListing,
  type SetSecret,
  whyNotSecretName,
} from '../contract/secrets.ts';
import { type Clock, timestamp } from '../lib/clock.ts';
import type { Masks } from '../masking/masks.ts';
import { type EnvEntry, maskWarning, readEnvText } from './env-text.ts';
import { listingOf, previewOf } from './preview.ts';
import type { SecretMasks } from './secret-masks.ts';
import type { SecretsCall, SecretsMap, StoreChanges } from './store-changes.ts';
import type { StoredSecret } from './store-format.ts';
import type { StoreUpkeep } from './store-upkeep.ts';

export interface SecretsOptions {
  readonly upkeep: Pick<StoreUpkeep, 'open' | 'recover'>;
  readonly changes: StoreChanges;
  readonly masks: SecretMasks;
  readonly audit: (record: AuditRecord) => Promise<unknown>;
  readonly publish: (event: PanelEvent) => void;
  readonly clock: Clock;
}

/** What a command gets. */
export interface SecretVariables {
  readonly variables: Readonly<Record<string, string>>;
  readonly masks: Masks;
}

/**
 * The secrets of workspaces. Every change is a mutation with its receipt, and in the audit log before it is answered.
 *
 * @throws from every call what `WorkspaceStores.open` throws, and the door
 */
export class Secrets {
  readonly #options: SecretsOptions;

  constructor(options: SecretsOptions) {
    this.#options = options;
  }

  /** By name. */
  async list(call: SecretsCall): Promise<SecretListing[]> {
    const { secrets } = await this.#options.upkeep.open(call);
    return listingOf(secrets);
  }

  /** @throws CodedError too_many_secrets, master_key_locked, master_key_unavailable */
  async set(
    call: SecretsCall,
    { name, value }: { readonly name: string; readonly value: string },
  ): Promise<{ readonly created: boolean; readonly secret: SetSecret }> {
    let created = false;
    let updatedAt = timestamp(this.#options.clock());
    const receiptId = await this.#options.changes.change(call, {
      tool: 'secret.set',
      change: ({ secrets }) => {
        const known = secrets.get(name);
        created = known === undefined;
        if (known?.value !== value) return merged(secrets, [[name, { value, updated_at: updatedAt }]]);
        updatedAt = known.updated_at;
        return null;
      },
    });
    await this.#note(call, 'secret.set', [name]);
    const warning = maskWarning(value);
    const secret = {
      name,
      preview: previewOf(value),
      updated_at: updatedAt,
      receipt_id: receiptId,
      ...(warning === undefined ? {} : { warning }),
    };
    return { created, secret };
  }

  /** The value, once the audit log says that it was revealed. @throws CodedError unknown_secret */
  async reveal(call: SecretsCall, name: string): Promise<RevealedSecret> {
    const { secrets } = await this.#options.upkeep.open(call);
    const found = secrets.get(name);
    if (found === undefined) throw unknownSecret([name]);
    await this.#audit(call, 'secret.reveal', [name]);
    return { name, value: found.value, updated_at: found.updated_at };
  }

  /** @throws CodedError unknown_secret */
  async delete(call: SecretsCall, name: string): Promise<void> {
    await this.#options.changes.change(call, {
      tool: 'secret.delete',
      change: ({ secrets }) => {
        if (!secrets.has(name)) throw unknownSecret([name]);
        return new Map([...secrets].filter(([other]) => other !== name));
      },
    });
    await this.#note(call, 'secret.delete', [name]);
  }

  /** Sets the variables of a `.env` text, all of them or none, or says what that would do. */
  async import(call: SecretsCall, { env, names, preview }: ImportSecretsRequest): Promise<ImportedSecrets> {
    const chosen = (entry: EnvEntry) => names === undefined || names.includes(entry.name);
    if (preview === true) {
      const { secrets } = await this.#options.upkeep.open(call);
      return { secrets: readEnvText(env, secrets).filter(chosen).map(withoutValue), receipt_id: null };
    }
    let entries: EnvEntry[] = [];
    const updated_at = timestamp(this.#options.clock());
    const receiptId = await this.#options.changes.change(call, {
      tool: 'secret.import',
      change: ({ secrets }) => {
        entries = readEnvText(env, secrets).filter(chosen);
        const changed = entries.filter(({ step }) => step === 'create' || step === 'update');
        if (changed.length === 0) return null;
        return merged(
          secrets,
          changed.map(({ name, value }) => [name, { value, updated_at }]),
        );
      },
    });
    const set = entries.filter(({ step }) => step !== 'refused').map(({ name }) => name);
    if (set.length > 0) await this.#note(call, 'secret.import', set);
    return { secrets: entries.map(withoutValue), receipt_id: receiptId };
  }

  /** As `StoreUpkeep.recover`. */
  async recover(call: SecretsCall, request: RecoverStoreRequest): Promise<RecoveredStore> {
    const recovered = await this.#options.upkeep.recover(call, request);
    await this.#note(call, 'secret.recover', []);
    return recovered;
  }

  /**
   * What a command gets: all secrets, or those that are named.
   *
   * @throws CodedError unknown_secret
   */
  async forCommand(call: SecretsCall, names: readonly string[] | undefined): Promise<SecretVariables> {
    const masks = this.#options.masks.of(call.workspace.wsId);
    try {
      const { secrets } = await this.#options.upkeep.open(call);
      const missing = names?.filter((name) => !secrets.has(name)) ?? [];
      if (missing.length > 0) throw unknownSecret(missing);
      // A store that was made elsewhere may hold names that can't be set here.
      const chosen = [...secrets].filter(
        ([name]) => names?.includes(name) ?? whyNotSecretName(name) === undefined,
      );
      return { variables: Object.fromEntries(chosen.map(([name, { value }]) => [name, value])), masks };
    } catch (error) {
      // Who wants none must not be held up by a store that can't be opened.
      if (names?.length === 0) return { variables: {}, masks };
      throw withAdvice(error);
    }
  }

  async #note(call: SecretsCall, event: AuditEvent, names: readonly string[]): Promise<void> {
    await this.#audit(call, event, names);
    this.#options.publish({ type: 'secrets.changed', ws_id: call.workspace.wsId });
  }

  async #audit(
    { workspace, actor }: SecretsCall,
    event: AuditEvent,
    names: readonly string[],
  ): Promise<void> {
    await this.#options.audit({ event, actor, ws_id: workspace.wsId, names: [...names] });
  }
}

function merged(secrets: SecretsMap, changed: readonly (readonly [string, StoredSecret])[]): SecretsMap {
  return new Map([...secrets, ...changed]);
}

function withoutValue({ value: _, ...entry }: EnvEntry) {
  return entry;
}

function unknownSecret(names: readonly string[]): CodedError {
  return new CodedError(
    'unknown_secret',
    `This workspace has no secret ${names.map((name) => name.slice(0, 128)).join(', ')}.`,
    { members: { names } },
  );
}

function withAdvice(error: unknown): unknown {
  if (!(error instanceof CodedError) || error.code === 'unknown_secret') return error;
  return new CodedError(
    error.code,
    `${error.message} To run the command without secrets, send "secrets": [].`,
    {
      cause: error,
      members: error.members,
    },
  );
}
