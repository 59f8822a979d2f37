import * as z from 'zod';
import { KeyId, Timestamp } from './ids.ts';
import { Scope } from './scopes.ts';

export const KeyExpiry = z.enum(['1d', '1m', '1y', 'never']).meta({ id: 'KeyExpiry' });
export type KeyExpiry = z.infer<typeof KeyExpiry>;

export const KeyStatus = z.enum(['active', 'expired', 'revoked']).meta({ id: 'KeyStatus' });
export type KeyStatus = z.infer<typeof KeyStatus>;

/** US dollars in a calendar week (Monday 00:00 UTC to the next); `null` is no cap. */
const WeeklySpendCap = z.number().min(0).max(1_000_000);

export const CreateKeyRequest = z
  .strictObject({
    name: z.string().trim().min(1).max(100),
    scopes: Scope,
    expiry: KeyExpiry,
    weekly_spend_cap: WeeklySpendCap.nullable().optional(),
  })
  .meta({ id: 'CreateKeyRequest' });
export type CreateKeyRequest = z.infer<typeof CreateKeyRequest>;

/** The only answer that ever carries the key itself. */
export const CreatedKey = z
  .object({
    key_id: KeyId,
    name: z.string(),
    key: z.string(),
    preview: z.string(),
    scopes: Scope,
    expires_at: Timestamp.nullable(),
    weekly_spend_cap: WeeklySpendCap.nullable(),
    created_at: Timestamp,
  })
  .meta({ id: 'CreatedKey' });
export type CreatedKey = z.infer<typeof CreatedKey>;

export const KeyListing = z
  .object({
    key_id: KeyId,
    name: z.string(),
    preview: z.string(),
    scopes: Scope,
    expires_at: Timestamp.nullable(),
    last_used_at: Timestamp.nullable(),
    weekly_spend_cap: WeeklySpendCap.nullable(),
    spent_this_week: z.number(),
    created_at: Timestamp,
    status: KeyStatus,
  })
  .meta({ id: 'KeyListing' });
export type KeyListing = z.infer<typeof KeyListing>;
