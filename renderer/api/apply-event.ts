import type { InfiniteData, QueryClient } from '@tanstack/react-query';
import type { KeyListing } from '../../daemon/contract/api-keys.ts';
import type { DaemonStatus } from '../../daemon/contract/daemon.ts';
import type { PanelEvent } from '../../daemon/contract/events.ts';
import type { MasterKeyStatus } from '../../daemon/contract/master-key.ts';
import type { ReceiptPage, ReceiptSummary } from '../../daemon/contract/receipts.ts';
import type { JobListing, RecentCommand } from '../../daemon/contract/shell.ts';
import { withReceipt } from '../receipts/receipt-pages.ts';
import { secretStorePath } from '../secrets/secret-store-path.ts';
import type { ReceiptFilter } from './queries.ts';

/** Brings what the panel shows up to date with one event, fetching only what the event does not carry. */
export function applyEvent(cache: QueryClient, event: PanelEvent): void {
  switch (event.type) {
    case 'job.started': {
      const { job } = event;
      cache.setQueryData<JobListing[]>(
        ['jobs', job.ws_id],
        (jobs) => jobs && [job, ...without(jobs, job.job_id)],
      );
      countRunning(cache, 1);
      void cache.invalidateQueries({ queryKey: ['recent', job.ws_id] });
      return;
    }
    case 'job.ended': {
      const { ws_id, job_id, command } = event;
      cache.setQueryData<JobListing[]>(['jobs', ws_id], (jobs) => jobs && without(jobs, job_id));
      cache.setQueryData<RecentCommand[]>(
        ['recent', ws_id],
        (recent) => recent && withCommand(recent, command),
      );
      countRunning(cache, -1);
      // An answer may be under way that was written before the end: it must not be the last word.
      void cache.invalidateQueries({ queryKey: ['jobs', ws_id] });
      void cache.invalidateQueries({ queryKey: ['recent', ws_id] });
      return;
    }
    case 'workspace.loaded':
    case 'workspace.forgotten':
      void cache.invalidateQueries({ queryKey: ['projects'] });
      return;
    case 'key.created':
      cache.setQueryData<KeyListing[]>(['keys'], (keys) => keys && withKey(keys, event.key));
      return;
    case 'key.revoked':
      cache.setQueryData<KeyListing[]>(['keys'], (keys) =>
        keys?.map((key) => (key.key_id === event.key_id ? { ...key, status: 'revoked' } : key)),
      );
      return;
    case 'receipt.created':
      takeReceipt(cache, event.ws_id, event.receipt);
      return;
    case 'secrets.changed':
      void cache.invalidateQueries({ queryKey: ['secrets', event.ws_id] });
      void cache.invalidateQueries({ queryKey: ['audit-log'] });
      // The first secret makes the key.
      void cache.invalidateQueries({ queryKey: ['master-key'] });
      return;
    case 'rotation.progress':
      cache.setQueryData<MasterKeyStatus>(['master-key'], (status) => status && withProgress(status, event));
      if (event.ended) masterKeyChanged(cache);
      return;
    case 'master-key.changed':
      masterKeyChanged(cache);
      return;
    case 'resync':
      void cache.invalidateQueries();
      return;
    default:
      // A later daemon may have more kinds of events.
      event satisfies never;
  }
}

/** A store that could not be opened before may now, and the other way round. */
function masterKeyChanged(cache: QueryClient): void {
  for (const kind of ['master-key', 'secrets', 'audit-log'])
    void cache.invalidateQueries({ queryKey: [kind] });
}

function withProgress(
  status: MasterKeyStatus,
  { done, total, ended }: Extract<PanelEvent, { type: 'rotation.progress' }>,
): MasterKeyStatus {
  const started_at = status.rotation?.started_at ?? new Date().toISOString();
  return { ...status, rotation: { started_at, done, total, running: !ended } };
}

/** Puts a new receipt at the top of the lists it belongs to, and has what its files show fetched anew. */
function takeReceipt(cache: QueryClient, workspaceId: string, receipt: ReceiptSummary): void {
  const lists = cache.getQueryCache().findAll({ queryKey: ['receipts', workspaceId] });
  for (const { queryKey } of lists) {
    const filter = queryKey[2];
    if (!isReceiptFilter(filter)) continue;
    // What a text filter finds is the daemon's to say.
    if (filter.path !== undefined) void cache.invalidateQueries({ queryKey });
    else
      cache.setQueryData<InfiniteData<ReceiptPage>>(
        queryKey,
        (pages) => pages && withReceipt(pages, receipt, filter),
      );
  }
  void cache.invalidateQueries({ queryKey: ['chain-head', workspaceId] });
  void cache.invalidateQueries({ queryKey: ['receipt-of-run', workspaceId, receipt.run_id] });
  void cache.invalidateQueries({ queryKey: ['content-search', workspaceId], refetchType: 'none' });
  const named = receipt.files.map((file) => file.path);
  // A rollback of the store changes secrets, too.
  if (named.includes(secretStorePath)) void cache.invalidateQueries({ queryKey: ['secrets', workspaceId] });
  for (const path of named) cache.setQueryData(['last-change', workspaceId, path], receipt);
  void cache.invalidateQueries({
    predicate: ({ queryKey: [kind, ws, path] }) => {
      if (ws !== workspaceId || typeof path !== 'string') return false;
      // Only the first files are named: the rest may be anywhere.
      if (receipt.file_count > named.length) return kind === 'file' || kind === 'folder';
      if (kind === 'file') return named.includes(path);
      return kind === 'folder' && named.some((file) => isShownIn(file, path));
    },
  });
}

function isReceiptFilter(part: unknown): part is ReceiptFilter {
  return typeof part === 'object' && part !== null;
}

/** A change shows in every open folder above the file: a folder may have come or gone with it. */
function isShownIn(file: string, folder: string): boolean {
  return folder === '' || file.startsWith(`${folder}/`);
}

/** Between two answers of the daemon the count is kept here: each event would cost a request otherwise. */
function countRunning(cache: QueryClient, change: 1 | -1): void {
  cache.setQueryData<DaemonStatus>(
    ['status'],
    (status) => status && { ...status, running_jobs: Math.max(0, status.running_jobs + change) },
  );
}

function without<Item extends { job_id: string }>(items: Item[], jobId: string): Item[] {
  return items.filter((item) => item.job_id !== jobId);
}

function withCommand(recent: RecentCommand[], command: RecentCommand): RecentCommand[] {
  const at = recent.findIndex((entry) => entry.job_id === command.job_id);
  return at === -1 ? [command, ...recent] : recent.with(at, command);
}

function withKey(keys: KeyListing[], created: KeyListing): KeyListing[] {
  return [created, ...keys.filter((key) => key.key_id !== created.key_id)];
}
