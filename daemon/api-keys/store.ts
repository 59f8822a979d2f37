import * as z from 'zod';
import { KeyEnvironment } from '../contract/daemon.ts';
import { KeyId, Timestamp } from '../contract/ids.ts';
import { Scope } from '../contract/scopes.ts';
import type { StateSlice } from '../lib/state-slice.ts';

/** A key as the state file keeps it: never the key itself, only its SHA-256. */
export const KeyRecord = z.object({
  key_id: KeyId,
  name: z.string(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  preview: z.string(),
  env: KeyEnvironment,
  scopes: Scope,
  created_at: Timestamp,
  expires_at: Timestamp.nullable(),
  revoked_at: Timestamp.nullable(),
  last_used_at: Timestamp.nullable(),
  weekly_spend_cap: z.number().nullable(),
  /** US dollars spent in the week that began at `week`; an older week counts as nothing spent. */
  spent: z.object({ week: Timestamp, usd: z.number() }).nullable(),
});
export type KeyRecord = z.infer<typeof KeyRecord>;

export type KeySlice = StateSlice<readonly KeyRecord[]>;
