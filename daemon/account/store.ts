import * as z from 'zod';
import { SessionId, Timestamp, UserId } from '../contract/ids.ts';
import type { StateSlice } from '../lib/state-slice.ts';

export const AccountRecord = z.object({ user_id: UserId, created_at: Timestamp });
export type AccountRecord = z.infer<typeof AccountRecord>;

/** A panel session as the state file keeps it: never the token, only its SHA-256. */
export const SessionRecord = z.object({
  session_id: SessionId,
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  created_at: Timestamp,
  expires_at: Timestamp,
});
export type SessionRecord = z.infer<typeof SessionRecord>;

export type SessionSlice = StateSlice<readonly SessionRecord[]>;
