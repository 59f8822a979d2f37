import { timingSafeEqual } from 'node:crypto';
import type { CreatedKey, CreateKeyRequest, KeyExpiry, KeyListing, KeyStatus } from '../contract/api-keys.ts';
import type { KeyEnvironment } from '../contract/daemon.ts';
import { CodedError } from '../contract/errors.ts';
import { KeyId } from '../contract/ids.ts';
import { type Scope, scopeGrants } from '../contract/scopes.ts';
import { type Clock, timestamp } from '../lib/clock.ts';
import { newId } from '../lib/ids.ts';
import { hashKey, newKey, previewKey, readKeyEnvironment } from './key-format.ts';
import type { KeyRecord, KeySlice } from './store.ts';

export interface ApiKeysOptions {
  readonly slice: KeySlice;
  readonly env: KeyEnvironment;
  readonly clock: Clock;
}

const maxActiveKeys = 500;
/** Ended keys are listed, and told from unknown ones, up to this many. */
const maxEndedKeys = 200;
const noteUseEveryMs = 60_000;

/** The account's API keys. A key is known by its hash alone. */
export class ApiKeys {
  readonly #options: ApiKeysOptions;
  /** Derived from the slice's value, and made anew when that is another. */
  #index: { readonly of: readonly KeyRecord[]; readonly byHash: ReadonlyMap<string, IndexedKey> } | undefined;
  readonly #lastUsed = new Map<KeyId, number>();
  /** When the file was last told of a key's use. */
  readonly #lastNoted = new Map<KeyId, number>();

  constructor(options: ApiKeysOptions) {
    this.#options = options;
  }

  /** @throws CodedError invalid_key, revoked_key or expired_key */
  authenticate(key: string): { readonly keyId: KeyId; readonly scope: Scope } {
    this.#checkEnvironment(key);
    const hash = hashKey(key);
    const found = this.#byHash().get(hash);
    if (found === undefined || !timingSafeEqual(found.hash, Buffer.from(hash, 'hex')))
      throw new CodedError('invalid_key', 'This key is not known here.');
    const { record, expiresMs } = found;
    if (record.revoked_at !== null) throw new CodedError('revoked_key', 'This key was revoked.');
    const now = this.#options.clock();
    if (now >= expiresMs) throw new CodedError('expired_key', `This key expired at ${record.expires_at}.`);
    this.#noteUse(record, now);
    return { keyId: record.key_id, scope: record.scopes };
  }

  /** Resolves once the key is durable; the answer is the only place that ever holds the key. */
  async create(request: CreateKeyRequest, creator: Scope): Promise<CreatedKey> {
    if (!scopeGrants(creator, request.scopes)) {
      const members = { required: request.scopes, granted: creator };
      throw new CodedError('insufficient_scope', "A key can't be given more scope than its creator has.", {
        members,
      });
    }
    const key = newKey(this.#options.env);
    const record = this.#newRecord(request, key);
    await this.#options.slice.update((keys) => ({ next: this.#withRecord(keys, record), result: undefined }));
    const { key_id, name, preview, scopes, expires_at, weekly_spend_cap, created_at } = record;
    return { key_id, name, key, preview, scopes, expires_at, weekly_spend_cap, created_at };
  }

  /** Newest first. */
  list(): KeyListing[] {
    const now = this.#options.clock();
    return this.#options.slice.value.map((record) => this.#listing(record, now)).reverse();
  }

  /** @throws CodedError unknown_key; a key that was revoked before stays so, without error */
  async revoke(keyId: KeyId): Promise<void> {
    const revoked_at = timestamp(this.#options.clock());
    await this.#options.slice.update((keys) => {
      const record = keys.find((candidate) => candidate.key_id === keyId);
      if (record === undefined) throw new CodedError('unknown_key', `There is no key ${keyId}.`);
      if (record.revoked_at !== null) return { next: keys, result: undefined };
      return {
        next: keys.map((other) => (other === record ? { ...record, revoked_at } : other)),
        result: undefined,
      };
    });
  }

  #checkEnvironment(key: string): void {
    const env = readKeyEnvironment(key);
    if (env === undefined)
      throw new CodedError(
        'invalid_key',
        'This is no API key, or it was mistyped: its check digits do not fit.',
      );
    if (env === this.#options.env) return;
    throw new CodedError(
      'invalid_key',
      `This is a ${env} key; this daemon takes ${this.#options.env} keys only.`,
    );
  }

  #byHash(): ReadonlyMap<string, IndexedKey> {
    const keys = this.#options.slice.value;
    if (this.#index?.of !== keys)
      this.#index = { of: keys, byHash: new Map(keys.map((record) => [record.sha256, toIndexed(record)])) };
    return this.#index.byHash;
  }

  /** Memory knows each use; the file learns of it at most once a minute, and never in the way of a request. */
  #noteUse({ key_id, last_used_at }: KeyRecord, now: number): void {
    this.#lastUsed.set(key_id, now);
    const noted =
      this.#lastNoted.get(key_id) ?? (last_used_at === null ? undefined : Date.parse(last_used_at));
    if (noted !== undefined && now - noted < noteUseEveryMs) return;
    this.#lastNoted.set(key_id, now);
    const used = timestamp(now);
    this.#options.slice.updateLazily((keys) =>
      keys.map((record) => (record.key_id === key_id ? { ...record, last_used_at: used } : record)),
    );
  }

  #newRecord({ name, scopes, expiry, weekly_spend_cap }: CreateKeyRequest, key: string): KeyRecord {
    const now = this.#options.clock();
    return {
      key_id: KeyId.parse(newId('key')),
      name,
      sha256: hashKey(key),
      preview: previewKey(key),
      env: this.#options.env,
      scopes,
      created_at: timestamp(now),
      expires_at: expiryOf(expiry, now),
      revoked_at: null,
      last_used_at: null,
      weekly_spend_cap: weekly_spend_cap ?? null,
      spent: null,
    };
  }

  #withRecord(keys: readonly KeyRecord[], record: KeyRecord): readonly KeyRecord[] {
    const now = this.#options.clock();
    const ended = keys.filter((candidate) => statusOf(candidate, now) !== 'active');
    if (keys.length - ended.length >= maxActiveKeys)
      throw new CodedError(
        'conflict',
        `There are ${maxActiveKeys} active keys already; revoke those that are no longer used.`,
      );
    const dropped = new Set(ended.slice(0, Math.max(0, ended.length - maxEndedKeys)));
    return [...keys.filter((candidate) => !dropped.has(candidate)), record];
  }

  #listing(record: KeyRecord, now: number): KeyListing {
    const { key_id, name, preview, scopes, expires_at, weekly_spend_cap, created_at, spent } = record;
    const lastUsed = this.#lastUsed.get(key_id);
    return {
      key_id,
      name,
      preview,
      scopes,
      expires_at,
      last_used_at: lastUsed === undefined ? record.last_used_at : timestamp(lastUsed),
      weekly_spend_cap,
      spent_this_week: spent?.week === weekOf(now) ? spent.usd : 0,
      created_at,
      status: statusOf(record, now),
    };
  }
}

interface IndexedKey {
  readonly record: KeyRecord;
  readonly hash: Buffer;
  /** Infinity where it never expires. */
  readonly expiresMs: number;
}

function toIndexed(record: KeyRecord): IndexedKey {
  const expiresMs = record.expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(record.expires_at);
  return { record, hash: Buffer.from(record.sha256, 'hex'), expiresMs };
}

function statusOf({ revoked_at, expires_at }: KeyRecord, now: number): KeyStatus {
  if (revoked_at !== null) return 'revoked';
  return expires_at !== null && now >= Date.parse(expires_at) ? 'expired' : 'active';
}

/** A month and a year are the calendar's, in UTC; the 31st of a shorter month is its last day. */
function expiryOf(expiry: KeyExpiry, now: number): string | null {
  switch (expiry) {
    case '1d':
      return timestamp(now + 24 * 3600 * 1000);
    case '1m':
      return addMonths(now, 1);
    case '1y':
      return addMonths(now, 12);
    case 'never':
      return null;
    default:
      return expiry satisfies never;
  }
}

function addMonths(now: number, months: number): string {
  const date = new Date(now);
  const day = date.getUTCDate();
  date.setUTCDate(1);
  date.setUTCMonth(date.getUTCMonth() + months);
  const lastDay = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
  date.setUTCDate(Math.min(day, lastDay));
  return date.toISOString();
}

/** Monday, 00:00 UTC. */
function weekOf(now: number): string {
  const date = new Date(now);
  date.setUTCHours(0, 0, 0, 0);
  date.setUTCDate(date.getUTCDate() - ((date.getUTCDay() + 6) % 7));
  return date.toISOString();
}
