import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
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

const WorkspaceFile = z.object({ version: z.literal(1), ws_id: WorkspaceId, slug: Slug, path: z.string() });
export type WorkspaceFile = z.infer<typeof WorkspaceFile>;

const fileName = 'workspace.json';

/** Makes the service's folder for a workspace, with `workspace.json` in it, if it isn't there. Resolves once durable. */
export async function ensureWorkspaceFile(
  dataDir: string,
  { ws_id, slug, path }: WorkspaceRecord,
): Promise<void> {
  const folder = workspaceFolder(dataDir, slug);
  if ((await readWorkspaceFile(folder))?.ws_id === ws_id) return;
  await makeFolderDurably(folder);
  const file: WorkspaceFile = { version: 1, ws_id, slug, path };
  await writeDurably(join(folder, fileName), `${JSON.stringify(file, null, 2)}\n`);
}

/** Every slug that has a folder here, with what its `workspace.json` says; undefined where that says nothing. */
export async function listWorkspaceFolders(
  dataDir: string,
): Promise<ReadonlyMap<string, WorkspaceFile | undefined>> {
  const folder = join(dataDir, 'workspaces');
  const slugs = existsSync(folder) ? await readdir(folder) : [];
  const files = slugs.map(
    async (slug) => [slug, await readWorkspaceFile(workspaceFolder(dataDir, slug))] as const,
  );
  return new Map(await Promise.all(files));
}

async function readWorkspaceFile(folder: string): Promise<WorkspaceFile | undefined> {
  try {
    return WorkspaceFile.parse(JSON.parse(await readFile(join(folder, fileName), 'utf8')));
  } catch {
    // Missing or damaged: nobody can say whose folder it is.
    return undefined;
  }
}
