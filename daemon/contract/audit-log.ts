import * as z from 'zod';
import { Timestamp, WorkspaceId } from './ids.ts';
import { Actor } from './receipts.ts';

export const AuditEvent = z
  .enum([
    'secret.set',
    'secret.reveal',
    'secret.delete',
    'secret.import',
    'secret.recover',
    'master_key.create',
    'master_key.rotate',
    'master_key.export',
    'master_key.import',
    'api_key.create',
    'api_key.revoke',
  ])
  .meta({ id: 'AuditEvent' });
export type AuditEvent = z.infer<typeof AuditEvent>;

/** One line of `audit.jsonl`. */
export const AuditEntry = z
  .object({
    seq: z.int().describe('From 1'),
    timestamp: Timestamp,
    event: AuditEvent,
    actor: Actor,
    ws_id: WorkspaceId.optional(),
    names: z.array(z.string()).optional().describe('Of the secrets; never a value'),
    key_id: z.string().optional().describe('Of the API key or the master key'),
  })
  .meta({ id: 'AuditEntry' });
export type AuditEntry = z.infer<typeof AuditEntry>;

/** What the caller of the log knows of an entry. */
export type AuditRecord = Omit<AuditEntry, 'seq' | 'timestamp'>;

export const AuditPage = z
  .object({
    entries: z.array(AuditEntry).describe('Newest first'),
    next_before: z.int().nullable().describe('`before` for the next page; null on the last'),
  })
  .meta({ id: 'AuditPage' });
export type AuditPage = z.infer<typeof AuditPage>;
