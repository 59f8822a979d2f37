import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import type { KeyListing } from '../../daemon/contract/api-keys.ts';
import type { AuditPage } from '../../daemon/contract/audit-log.ts';
import type { DaemonStatus } from '../../daemon/contract/daemon.ts';
import type { SearchResult, TreePage } from '../../daemon/contract/files.ts';
import type { MasterKeyStatus } from '../../daemon/contract/master-key.ts';
import type { RecentProject } from '../../daemon/contract/projects.ts';
import type { ChainHead, Receipt, ReceiptPage, RollbackPlan } from '../../daemon/contract/receipts.ts';
import type { SecretListing } from '../../daemon/contract/secrets.ts';
import type { CurrentSession } from '../../daemon/contract/session.ts';
import type { JobListing, RecentCommand } from '../../daemon/contract/shell.ts';
import type { SshHost, SshTest } from '../../daemon/contract/ssh.ts';
import { type OpenedFile, readFile } from '../files/read-file.ts';
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

  /** Names and previews; a value is never asked for through the cache. */
  secrets: (api: ApiClient, workspaceId: string) =>
    queryOptions({
      queryKey: ['secrets', workspaceId],
      queryFn: ({ signal }) => api.json<SecretListing[]>('/api/secrets', { signal, workspaceId }),
    }),

  sshHosts: (api: ApiClient) =>
    queryOptions({
      queryKey: ['ssh-hosts'],
      queryFn: ({ signal }) => api.json<SshHost[]>('/api/shell/ssh-hosts', { signal }),
      // The configuration is edited without an event.
      staleTime: 0,
    }),

  /** Connects when it is asked to, never by itself; how that went is kept for as long as a host is looked at. */
  sshTest: (api: ApiClient, host: string) =>
    queryOptions({
      queryKey: ['ssh-test', host],
      queryFn: ({ signal }) =>
        api.json<SshTest>(`/api/shell/ssh-hosts/${encodeURIComponent(host)}/test`, {
          method: 'POST',
          signal,
        }),
      enabled: false,
      retry: false,
    }),

  masterKey: (api: ApiClient) =>
    queryOptions({
      queryKey: ['master-key'],
      queryFn: ({ signal }) => api.json<MasterKeyStatus>('/api/account/master-key', { signal }),
      // A keychain is locked and unlocked without an event.
      staleTime: 0,
    }),

  auditLog: (api: ApiClient) =>
    infiniteQueryOptions({
      queryKey: ['audit-log'],
      queryFn: ({ signal, pageParam }) => {
        const search = new URLSearchParams({ limit: '50' });
        if (pageParam !== null) search.set('before', String(pageParam));
        return api.json<AuditPage>(`/api/account/audit-log?${search}`, { signal });
      },
      initialPageParam: null as number | null,
      getNextPageParam: (page) => page.next_before,
      // Not every entry has an event of its own.
      staleTime: 0,
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

  receipts: (api: ApiClient, workspaceId: string, filter: ReceiptFilter = {}) =>
    infiniteQueryOptions({
      queryKey: ['receipts', workspaceId, filter],
      queryFn: ({ signal, pageParam }) => {
        const search = new URLSearchParams({ ws_id: workspaceId, limit: '50', ...filter });
        if (pageParam !== null) search.set('before', pageParam);
        return api.json<ReceiptPage>(`/api/receipts?${search}`, { signal, workspaceId });
      },
      initialPageParam: null as string | null,
      getNextPageParam: (page) => page.next_before,
      staleTime: 60_000,
    }),

  /** A receipt never changes, unless someone tampers with it: verifying is what finds that. */
  receipt: (api: ApiClient, workspaceId: string, receiptId: string) =>
    queryOptions({
      queryKey: ['receipt', workspaceId, receiptId],
      queryFn: async ({ signal }) => {
        const response = await api.open(`/api/receipts/${receiptId}`, { signal, workspaceId });
        return storedReceipt(await response.text());
      },
      staleTime: 60_000,
    }),

  /** The newest receipt of a run, or null where the run changed nothing. */
  receiptOfRun: (api: ApiClient, workspaceId: string, runId: string) =>
    queryOptions({
      queryKey: ['receipt-of-run', workspaceId, runId],
      queryFn: async ({ signal }) => {
        const search = new URLSearchParams({ ws_id: workspaceId, run_id: runId, limit: '1' });
        const page = await api.json<ReceiptPage>(`/api/receipts?${search}`, { signal, workspaceId });
        return page.receipts[0] ?? null;
      },
    }),

  /** What rolling a run back would do now: asked anew each time, for the files may have changed. */
  rollbackPlan: (api: ApiClient, workspaceId: string, runId: string) =>
    queryOptions({
      queryKey: ['rollback-plan', workspaceId, runId],
      queryFn: ({ signal }) =>
        api.json<RollbackPlan>(`/api/agent/rollback/${runId}?preview=true`, {
          method: 'POST',
          body: {},
          workspaceId,
          signal,
        }),
      gcTime: 0,
      staleTime: 0,
    }),

  chainHead: (api: ApiClient, workspaceId: string) =>
    queryOptions({
      queryKey: ['chain-head', workspaceId],
      queryFn: ({ signal }) =>
        api.json<ChainHead>(`/api/receipts/chain-head?ws_id=${workspaceId}`, { signal, workspaceId }),
    }),

  folder: (api: ApiClient, workspaceId: string, path: string) =>
    infiniteQueryOptions({
      queryKey: ['folder', workspaceId, path],
      queryFn: ({ signal, pageParam }) => {
        const search = new URLSearchParams({ path, limit: '500' });
        if (pageParam !== null) search.set('after', pageParam);
        return api.json<TreePage>(`/api/project/files?${search}`, { signal, workspaceId });
      },
      initialPageParam: null as string | null,
      getNextPageParam: (page) => page.next,
    }),

  file: (api: ApiClient, workspaceId: string, path: string) =>
    queryOptions({
      queryKey: ['file', workspaceId, path],
      queryFn: ({ signal }): Promise<OpenedFile> => readFile(api, workspaceId, path, signal),
      staleTime: 0,
      // The same content keeps its identity by the ETag; comparing megabytes of text would take longer.
      structuralSharing: false,
    }),

  contentSearch: (api: ApiClient, workspaceId: string, text: string) =>
    queryOptions({
      queryKey: ['content-search', workspaceId, text],
      queryFn: ({ signal }) =>
        api.json<SearchResult>(`/api/project/search?${new URLSearchParams({ q: text })}`, {
          signal,
          workspaceId,
        }),
    }),
};

/** A receipt as it stands on the disk; `receipt` is undefined where that is no JSON any more. */
export type StoredReceipt = { text: string; receipt: Receipt | undefined };

function storedReceipt(text: string): StoredReceipt {
  try {
    return { text, receipt: JSON.parse(text) };
  } catch {
    // Altered on the disk: the panel shows what is there instead.
    return { text, receipt: undefined };
  }
}

/** What the daemon filters the list by. */
export type ReceiptFilter = { path?: string; tool?: string; run_id?: string };
