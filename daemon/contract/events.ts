import * as z from 'zod';
import { KeyListing } from './api-keys.ts';
import { JobId, KeyId, WorkspaceId } from './ids.ts';
import { LoadedProject } from './projects.ts';
import { ReceiptSummary } from './receipts.ts';
import { JobListing, RecentCommand } from './shell.ts';

/** What `GET /api/events` tells the panel, one JSON object a frame, with an `id:` line each. */
export const PanelEvent = z
  .discriminatedUnion('type', [
    z.object({ type: z.literal('job.started'), job: JobListing }),
    z.object({ type: z.literal('job.ended'), ws_id: WorkspaceId, job_id: JobId, command: RecentCommand }),
    z.object({ type: z.literal('workspace.loaded'), workspace: LoadedProject }),
    z.object({ type: z.literal('workspace.forgotten'), ws_id: WorkspaceId }),
    z.object({ type: z.literal('key.created'), key: KeyListing }),
    z.object({ type: z.literal('key.revoked'), key_id: KeyId }),
    z.object({ type: z.literal('receipt.created'), ws_id: WorkspaceId, receipt: ReceiptSummary }),
    z.object({ type: z.literal('secrets.changed'), ws_id: WorkspaceId }),
    z.object({
      type: z.literal('rotation.progress').describe('Stores encrypted anew so far; the last has ended: true'),
      done: z.int(),
      total: z.int(),
      ended: z.boolean(),
    }),
    z.object({ type: z.literal('master-key.changed') }),
    z.object({
      type: z.literal('resync').describe('Events were missed: fetch everything shown again'),
    }),
  ])
  .meta({ id: 'PanelEvent' });
export type PanelEvent = z.infer<typeof PanelEvent>;
