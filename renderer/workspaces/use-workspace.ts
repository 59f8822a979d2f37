import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';
import type { LoadedProject, RecentProject } from '../../daemon/contract/projects.ts';
import { queries } from '../api/queries.ts';
import { usePanel } from '../panel-context.ts';

/** The workspace this tab looks at: the one chosen here, else the session's active one. */
export function useWorkspace(): RecentProject | undefined {
  const { api, workspaceChoice } = usePanel();
  const chosen = useSyncExternalStore(workspaceChoice.subscribe, workspaceChoice.snapshot);
  const session = useQuery(queries.session(api));
  const projects = useQuery(queries.projects(api));
  const id = chosen ?? session.data?.active_ws_id ?? null;
  return projects.data?.find((project) => project.ws_id === id);
}

/** Loads a folder and makes it this tab's workspace. */
export function useOpenProject() {
  const { api, workspaceChoice } = usePanel();
  const cache = useQueryClient();
  return useMutation({
    mutationFn: (path: string) =>
      api.json<LoadedProject>('/api/project/load', { method: 'POST', body: { path } }),
    onSuccess: async (project) => {
      await cache.invalidateQueries({ queryKey: ['projects'] });
      workspaceChoice.choose(project.ws_id);
    },
  });
}

/** Takes a workspace off the list; its folder and its records stay. */
export function useForgetProject() {
  const { api, workspaceChoice } = usePanel();
  const cache = useQueryClient();
  return useMutation({
    mutationFn: (project: RecentProject) =>
      api.send(`/api/project/recent/${project.ws_id}`, { method: 'DELETE' }),
    onSuccess: (_nothing, project) => {
      if (workspaceChoice.snapshot() === project.ws_id) workspaceChoice.choose(null);
      cache.setQueryData<RecentProject[]>(['projects'], (list) =>
        list?.filter((one) => one.ws_id !== project.ws_id),
      );
    },
  });
}
