import * as z from 'zod';
import { SessionId, Timestamp, UserId, WorkspaceId } from './ids.ts';

export const CreateSessionRequest = z
  .strictObject({ token: z.string().min(1).max(200) })
  .meta({ id: 'CreateSessionRequest' });
export type CreateSessionRequest = z.infer<typeof CreateSessionRequest>;

/** `session_token` (prefix `tls_`) goes into `Authorization: Bearer`; the daemon keeps only its hash. */
export const CreatedSession = z
  .object({ session_id: SessionId, session_token: z.string(), user_id: UserId, expires_at: Timestamp })
  .meta({ id: 'CreatedSession' });
export type CreatedSession = z.infer<typeof CreatedSession>;

export const CurrentSession = z
  .object({
    session_id: SessionId,
    user_id: UserId,
    created_at: Timestamp,
    expires_at: Timestamp,
    active_ws_id: WorkspaceId.nullable(),
  })
  .meta({ id: 'CurrentSession' });
export type CurrentSession = z.infer<typeof CurrentSession>;
