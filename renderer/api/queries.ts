import { queryOptions } from '@tanstack/react-query';
import type { KeyListing } from '../../daemon/contract/api-keys.ts';
import type { DaemonStatus } from '../../daemon/contract/daemon.ts';
import type { RecentProject } from '../../daemon/contract/projects.ts';
import type { CurrentSession } from '../../daemon/contract/session.ts';
import type { JobListing, RecentCommand } from '../../daemon/contract/shell.ts';
import type { ApiClient } from './client.ts';

/** Every read of the panel: its cache key and how it is fetched. Events keep the answers fresh. */
export const queries = {
  session: (api: ApiClient) =>
    queryOptions({
      queryKey: ['session'],
      queryFn: ({ signal }) => api.json<CurrentSession>('/api/session', { signal }),
    }),

  status: (api: ApiClient) =>
    queryOptions({
      queryKey: ['status'],
      queryFn: ({ signal }) => api.json<DaemonStatus>('/api/status', { signal }),
      refetchInterval: 15_000,
    }),

  projects: (api: ApiClient) =>
    queryOptions({
      queryKey: ['projects'],
      queryFn: ({ signal }) => api.json<RecentProject[]>('/api/project/recent', { signal }),
    }),

  keys: (api: ApiClient) =>
    queryOptions({
      queryKey: ['keys'],
      queryFn: ({ signal }) => api.json<KeyListing[]>('/api/account/api-keys', { signal }),
    }),

  jobs: (api: ApiClient, workspaceId: string) =>
    queryOptions({
      queryKey: ['jobs', workspaceId],
      queryFn: ({ signal }) => api.json<JobListing[]>('/api/shell/jobs', { signal, workspaceId }),
    }),

  recent: (api: ApiClient, workspaceId: string) =>
    queryOptions({
      queryKey: ['recent', workspaceId],
      queryFn: ({ signal }) => api.json<RecentCommand[]>('/api/shell/recent', { signal, workspaceId }),
    }),
};
