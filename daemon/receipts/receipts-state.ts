import * as z from 'zod';
import { WorkspaceId } from '../contract/ids.ts';

/** What the daemon remembers of chains outside of their own folders, where who changes those does not get to it. */
export const ReceiptsState = z.object({
  /** C2SP verifier key of the checkpoints; null before the first. */
  checkpoint_key: z.string().nullable(),
  /** The newest checkpoint of each chain. */
  checkpoints: z.record(WorkspaceId, z.object({ count: z.int(), head: z.string() })),
});
export type ReceiptsState = z.infer<typeof ReceiptsState>;
