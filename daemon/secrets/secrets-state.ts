import * as z from 'zod';
import { WorkspaceId } from '../contract/ids.ts';

export const SecretsState = z.object({
  /** The highest generation of a workspace's store that was seen. */
  generations: z.record(WorkspaceId, z.int().min(1)),
});
export type SecretsState = z.infer<typeof SecretsState>;
