import * as z from 'zod';
import type { PanelEvent } from '../contract/events.ts';
import { WorkspaceId } from '../contract/ids.ts';
import { LoadedProject, LoadProjectRequest, RecentProject } from '../contract/projects.ts';
import { credentialId, type Route, route } from '../http/route.ts';
import type { Workspaces } from './workspaces.ts';

export interface ProjectRoutesOptions {
  readonly workspaces: Workspaces;
  readonly publish: (event: PanelEvent) => void;
  /** Told of every load; what it begins is not waited for. */
  readonly onLoaded: (wsId: WorkspaceId) => void;
}

export function projectRoutes({ workspaces, publish, onLoaded }: ProjectRoutesOptions): Route[] {
  return [
    route({
      method: 'post',
      path: '/api/project/load',
      summary: "Load a project folder; it becomes the caller's active workspace",
      scope: 'write',
      limit: 'per-key',
      request: { body: LoadProjectRequest },
      response: { 200: { description: 'The workspace', schema: LoadedProject } },
      errors: [
        'project_path_missing',
        'project_path_unreadable',
        'project_path_system',
        'conflict',
        'storage_full',
        'storage_failed',
      ],
      handler: async ({ body, principal }) => {
        const workspace = await workspaces.load(body, credentialId(principal));
        publish({ type: 'workspace.loaded', workspace });
        onLoaded(workspace.ws_id);
        return { status: 200, body: workspace };
      },
    }),
    route({
      method: 'get',
      path: '/api/project/recent',
      summary: 'The folders that were loaded last, up to 20',
      scope: 'read',
      limit: 'per-key',
      request: {},
      response: { 200: { description: 'Newest first', schema: z.array(RecentProject) } },
      errors: [],
      handler: async () => ({ status: 200, body: await workspaces.recent() }),
    }),
    route({
      method: 'delete',
      path: '/api/project/recent/:ws_id',
      summary: 'Take a folder off the recent list; nothing of it is deleted, and loading it brings it back',
      scope: 'write',
      limit: 'per-key',
      request: { params: z.strictObject({ ws_id: WorkspaceId }) },
      response: { 204: { description: 'It is no longer listed' } },
      errors: ['unknown_workspace', 'storage_full', 'storage_failed'],
      handler: async ({ params }) => {
        await workspaces.forget(params.ws_id);
        publish({ type: 'workspace.forgotten', ws_id: params.ws_id });
        return { status: 204 };
      },
    }),
  ];
}
