import { join } from 'node:path';
import * as z from 'zod';
import { KeyId, SessionId, Timestamp, WorkspaceId } from '../contract/ids.ts';
import { Slug } from '../contract/projects.ts';
import { writeDurably } from '../lib/durable-file.ts';
import { makeFolderDurably } from '../lib/durable-folder.ts';
import type { StateSlice } from '../lib/state-slice.ts';

export const WorkspaceRecord = z.object({
  ws_id: WorkspaceId,
  slug: Slug,
  /** Real path of the project folder, without links. */
  path: z.string(),
  created_at: Timestamp,
  last_opened_at: Timestamp,
  /** Not shown among the recent ones until it is opened again. */
  forgotten: z.boolean(),
});
export type WorkspaceRecord = z.infer<typeof WorkspaceRecord>;

export const WorkspacesState = z.object({
  list: z.array(WorkspaceRecord).readonly(),
  /** The workspace that each credential loaded last. */
  active: z.record(z.union([KeyId, SessionId]), WorkspaceId),
});
export type WorkspacesState = z.infer<typeof WorkspacesState>;

export type WorkspacesSlice = StateSlice<WorkspacesState>;

/** The service's own folder for a workspace: `<data>/workspaces/<slug>/`. */
export function workspaceFolder(dataDir: string, slug: string): string {
  return join(dataDir, 'workspaces', slug);
}

/** Makes the service's folder for a workspace, with `workspace.json` in it. Resolves once it is durable. */
export async function writeWorkspaceFile(
  dataDir: string,
  { ws_id, slug, path }: WorkspaceRecord,
): Promise<void> {
  const folder = workspaceFolder(dataDir, slug);
  await makeFolderDurably(folder);
  await writeDurably(
    join(folder, 'workspace.json'),
    `${JSON.stringify({ version: 1, ws_id, slug, path }, null, 2)}\n`,
  );
}
