import * as z from 'zod';
import { Timestamp, WorkspaceId } from './ids.ts';

export const maxPathLength = 4096;

export const Slug = z
  .string()
  .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, 'must be lowercase letters and digits, with single hyphens between them')
  .max(64)
  .meta({ id: 'Slug' });

export const LoadProjectRequest = z
  .strictObject({
    path: z.string().min(1).max(maxPathLength).describe('Absolute path of the project folder'),
    slug: Slug.optional().describe(
      'Chosen for a folder that is loaded for the first time; else its own is kept',
    ),
  })
  .meta({ id: 'LoadProjectRequest' });
export type LoadProjectRequest = z.infer<typeof LoadProjectRequest>;

export const Analysis = z
  .looseObject({ status: z.enum(['pending', 'running', 'ready', 'failed']) })
  .meta({ id: 'Analysis' });

export const LoadedProject = z
  .object({ ws_id: WorkspaceId, slug: Slug, name: z.string(), path: z.string(), analysis: Analysis })
  .meta({ id: 'LoadedProject' });
export type LoadedProject = z.infer<typeof LoadedProject>;

export const RecentProject = z
  .object({
    name: z.string(),
    path: z.string(),
    ws_id: WorkspaceId,
    slug: Slug,
    last_opened_at: Timestamp,
    available: z
      .boolean()
      .describe('false when the folder is not there now: moved, deleted, or on an unmounted disk'),
  })
  .meta({ id: 'RecentProject' });
export type RecentProject = z.infer<typeof RecentProject>;
