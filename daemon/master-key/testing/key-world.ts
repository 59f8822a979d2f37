import type { WorkspaceId } from '../../contract/ids.ts';
import { type Keychain, KeychainError } from '../../lib/keychain.ts';
import type { StateSlice } from '../../lib/state-slice.ts';
import { MasterKeys, type MasterKeysOptions } from '../master-keys.ts';
import { Rotation, type RotationStores } from '../rotation.ts';
import { type MasterKeyRecord, noMasterKeyRecord } from '../store.ts';

/** At which step, counted from 1 over everything the world does, a failure comes, and whether the step is done first. */
export interface Fault {
  readonly step: number;
  readonly persisted: boolean;
}

/** `hides`: a locked keychain that says of every entry that there is none, as KeePassXC's does. */
export type Lock = 'open' | 'rejects' | 'hides' | 'silent';

export class InjectedFault extends Error {}

export const ws = (n: number) => `ws_${String(n).padStart(16, '0')}` as WorkspaceId;

/** A keychain, a state and stores that outlive a restart and fail where they are told to. */
export class KeyWorld {
  readonly entries = new Map<string, string>();
  lock: Lock = 'open';
  record: MasterKeyRecord = noMasterKeyRecord;
  /** The id of the key that each store is sealed with. */
  readonly sealedWith = new Map<WorkspaceId, string>();
  readonly unreachable = new Set<WorkspaceId>();
  readonly steps: string[] = [];
  readonly notices: string[] = [];
  readonly audited: string[] = [];
  fault: Fault | undefined;
  nowMs = Date.UTC(2026, 0, 1);

  /** The service after a restart. */
  keys(options: Partial<MasterKeysOptions> = {}): MasterKeys {
    return new MasterKeys({
      environmentKey: undefined,
      keyFile: '/nonexistent/secret_key',
      keyFileMayBeMissing: true,
      keychain: (account) => this.keychainEntry(account),
      slice: this.#slice(),
      hasStores: async () => this.sealedWith.size > 0,
      slugOf: (wsId) => `slug-${wsId.slice(-1)}`,
      clock: () => this.nowMs,
      onNotice: (message) => this.notices.push(message),
      ...options,
    });
  }

  rotation(keys: MasterKeys): Rotation {
    return new Rotation({
      keys,
      stores: this.#stores(keys),
      audit: {
        append: async ({ event, key_id }) => {
          this.audited.push(`${event} ${key_id}`);
        },
      },
      publish: () => undefined,
    });
  }

  /** Seals a store as the secrets do, and fails where the service would find it sealed with a key it does not have. */
  async seal(keys: MasterKeys, wsId: WorkspaceId): Promise<void> {
    const { sealing, opening } = await keys.ringForWriting();
    const old = this.sealedWith.get(wsId);
    if (old !== undefined && !opening.some(({ keyId }) => keyId === old)) throw new Error(`${old} is lost`);
    this.sealedWith.set(wsId, sealing.keyId);
  }

  #stores(keys: MasterKeys): RotationStores {
    return {
      list: async () => Array.from(this.sealedWith.keys(), (wsId) => ({ wsId, slug: wsId })),
      reseal: async (wsId) => {
        if (this.unreachable.has(wsId)) return 'unreachable';
        await this.#step(`reseal ${wsId}`, () => this.seal(keys, wsId));
        return 'done';
      },
    };
  }

  /** One account, as the service sees it. */
  keychainEntry(account: string): Keychain {
    return {
      get: () =>
        this.#asked(
          `get ${account}`,
          () => this.entries.get(account) ?? null,
          () => null,
        ),
      set: (secret) => this.#asked(`set ${account}`, () => void this.entries.set(account, secret)),
      remove: () => this.#asked(`remove ${account}`, () => void this.entries.delete(account)),
    };
  }

  #asked<T>(name: string, work: () => T, hidden?: () => T): Promise<T> {
    switch (this.lock) {
      case 'open':
        return this.#step(name, async () => work());
      case 'hides':
        if (hidden) return this.#step(name, async () => hidden());
        return Promise.reject(new KeychainError('locked', 'the database is locked'));
      case 'rejects':
        return Promise.reject(new KeychainError('locked', 'the prompt was dismissed'));
      case 'silent':
        return Promise.reject(new KeychainError('silent', 'it did not answer'));
      default:
        return this.lock satisfies never;
    }
  }

  #slice(): StateSlice<MasterKeyRecord> {
    const world = this;
    return {
      get value() {
        return world.record;
      },
      update: (change) => {
        let outcome: ReturnType<typeof change> | undefined;
        return world.#step('state', async () => {
          outcome = change(world.record);
          world.record = outcome.next;
          return outcome.result;
        });
      },
      updateLazily: () => {
        throw new Error('what is said of a master key must be durable');
      },
    };
  }

  async #step<T>(name: string, work: () => Promise<T>): Promise<T> {
    this.steps.push(name);
    const fails = this.fault?.step === this.steps.length;
    if (fails && this.fault?.persisted === false) throw this.#failure(name);
    const result = await work();
    if (fails) throw this.#failure(name);
    return result;
  }

  #failure(name: string): Error {
    const message = `injected at ${name}`;
    return /^(get|set|remove) /.test(name)
      ? new KeychainError('unreachable', message)
      : new InjectedFault(message);
  }
}
