import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { CodedError } from '../contract/errors.ts';
import { type KeyId, type SessionId, WorkspaceId } from '../contract/ids.ts';
import type { LoadedProject, LoadProjectRequest, RecentProject } from '../contract/projects.ts';
import { type Clock, timestamp } from '../lib/clock.ts';
import { newId } from '../lib/ids.ts';
import { checkLoadable, identityOf, type LoadableFolder } from './load-rules.ts';
import { slugOf, uniqueSlug } from './slug.ts';
import {
  ensureWorkspaceFile,
  listWorkspaceFolders,
  type WorkspaceFile,
  type WorkspaceRecord,
  type WorkspacesSlice,
  type WorkspacesState,
} from './store.ts';

export interface WorkspacesOptions {
  readonly slice: WorkspacesSlice;
  readonly dataDir: string;
  readonly clock: Clock;
}

type CredentialId = KeyId | SessionId;

const maxRecent = 20;
const lookAgainMs = 1000;

/** The loaded project folders, and which of them each credential works on. */
export class Workspaces {
  readonly #options: WorkspacesOptions;
  /** The recent list as it was last looked at; whether a folder is there is not looked at for every request. */
  #recent:
    | {
        readonly of: readonly WorkspaceRecord[];
        readonly atMs: number;
        readonly projects: Promise<RecentProject[]>;
      }
    | undefined;

  constructor(options: WorkspacesOptions) {
    this.#options = options;
  }

  /**
   * Loads a folder, and makes it the caller's active workspace. A folder that was loaded before keeps its workspace,
   * even where the state was lost: what belongs to it lies in the service's folder for it.
   *
   * @throws CodedError as `checkLoadable`; conflict where the wanted slug is another folder's
   */
  async load({ path, slug }: LoadProjectRequest, caller: CredentialId): Promise<LoadedProject> {
    const { slice, dataDir, clock } = this.#options;
    const folder = await checkLoadable(path, { dataDir });
    const alias = await this.#aliasOf(folder);
    const onDisk = await listWorkspaceFolders(dataDir);
    const now = timestamp(clock());
    const record = await slice.update((state) => {
      const known = state.list.find((candidate) => candidate.path === (alias ?? folder.path));
      const opened =
        known === undefined
          ? newRecord(state, onDisk, { path: folder.path, wanted: slug, now })
          : { ...known, last_opened_at: now, forgotten: false };
      if (slug !== undefined && slug !== opened.slug)
        throw new CodedError(
          'conflict',
          `This folder is loaded as ${opened.slug}; a workspace keeps its slug.`,
        );
      const list =
        known === undefined
          ? [...state.list, opened]
          : state.list.map((other) => (other === known ? opened : other));
      return {
        next: { list, active: { ...state.active, [caller]: opened.ws_id } },
        result: opened,
      };
    });
    await ensureWorkspaceFile(dataDir, record);
    return { ...describe(record), analysis: { status: 'pending' } };
  }

  /** Newest first; folders that are not there now are marked, not dropped. */
  async recent(): Promise<readonly RecentProject[]> {
    const { slice, clock } = this.#options;
    const now = clock();
    const kept = this.#recent;
    if (kept?.of === slice.value.list && now - kept.atMs < lookAgainMs && now >= kept.atMs)
      return kept.projects;
    const { list } = slice.value;
    const projects = Promise.all(shownOf(list).map(describeRecent));
    this.#recent = { of: list, atMs: now, projects };
    return projects;
  }

  /** Takes a workspace off the recent list; nothing of it is deleted. @throws CodedError unknown_workspace */
  async forget(wsId: WorkspaceId): Promise<void> {
    await this.#options.slice.update((state) => {
      if (!state.list.some((record) => record.ws_id === wsId)) throw unknownWorkspace(wsId);
      const list = state.list.map((record) =>
        record.ws_id === wsId ? { ...record, forgotten: true } : record,
      );
      return { next: { ...state, list }, result: undefined };
    });
  }

  /** The workspace a call means. @throws CodedError unknown_workspace, no_active_workspace */
  resolve(caller: CredentialId, named: string | undefined): WorkspaceRecord & { readonly wsId: WorkspaceId } {
    const { list } = this.#options.slice.value;
    const activeId = this.activeOf(caller);
    if (named === undefined && activeId === null)
      throw new CodedError(
        'no_active_workspace',
        'Load a project first (POST /api/project/load), or name one with X-Workspace-Id.',
      );
    const record =
      named === undefined
        ? list.find(({ ws_id }) => ws_id === activeId)
        : list.find(({ ws_id, slug }) => ws_id === named || slug === named);
    if (record === undefined) throw unknownWorkspace(named ?? '');
    return { ...record, wsId: record.ws_id };
  }

  activeOf(caller: CredentialId): WorkspaceId | null {
    return this.#options.slice.value.active[caller] ?? null;
  }

  /** @throws CodedError unknown_workspace */
  byId(wsId: WorkspaceId): WorkspaceRecord {
    const record = this.#options.slice.value.list.find((candidate) => candidate.ws_id === wsId);
    if (record === undefined) throw unknownWorkspace(wsId);
    return record;
  }

  /** A credential that has ended has no active workspace any more. */
  forgetCaller(caller: CredentialId): void {
    this.#options.slice.updateLazily(({ list, active: { [caller]: _ended, ...active } }) => ({
      list,
      active,
    }));
  }

  /** At the start: credentials also end by themselves, by expiry for one, and leave their active workspace behind. */
  keepCallers(known: ReadonlySet<string>): void {
    this.#options.slice.updateLazily((state) => {
      const active = Object.entries(state.active).filter(([caller]) => known.has(caller));
      if (active.length === Object.keys(state.active).length) return state;
      return { list: state.list, active: Object.fromEntries(active) };
    });
  }

  /** Path under which the very same folder is known already: another spelling, or a bind mount. */
  async #aliasOf({ path, identity }: LoadableFolder): Promise<string | undefined> {
    const { list } = this.#options.slice.value;
    if (list.some((record) => record.path === path)) return undefined;
    for (const record of list) if ((await identityAt(record.path)) === identity) return record.path;
    return undefined;
  }
}

function newRecord(
  state: WorkspacesState,
  onDisk: ReadonlyMap<string, WorkspaceFile | undefined>,
  { path, wanted, now }: { path: string; wanted: string | undefined; now: string },
): WorkspaceRecord {
  const opened = { path, created_at: now, last_opened_at: now, forgotten: false };
  for (const [slug, file] of onDisk)
    if (file?.path === path && !state.list.some(({ ws_id }) => ws_id === file.ws_id))
      return { ws_id: file.ws_id, slug, ...opened };
  const taken = new Set([...state.list.map((record) => record.slug), ...onDisk.keys()]);
  if (wanted !== undefined && taken.has(wanted))
    throw new CodedError('conflict', `The slug ${wanted} is another folder's.`);
  const slug = wanted ?? uniqueSlug(slugOf(basename(path)), taken);
  return { ws_id: WorkspaceId.parse(newId('ws')), slug, ...opened };
}

function describe({ ws_id, slug, path }: WorkspaceRecord) {
  return { ws_id, slug, name: basename(path), path };
}

function shownOf(list: readonly WorkspaceRecord[]): WorkspaceRecord[] {
  return list
    .filter((record) => !record.forgotten)
    .toSorted((a, b) => b.last_opened_at.localeCompare(a.last_opened_at))
    .slice(0, maxRecent);
}

async function describeRecent(record: WorkspaceRecord): Promise<RecentProject> {
  const available = (await identityAt(record.path)) !== undefined;
  return { ...describe(record), last_opened_at: record.last_opened_at, available };
}

async function identityAt(path: string): Promise<string | undefined> {
  try {
    const stats = await stat(path, { bigint: true });
    return stats.isDirectory() ? identityOf(stats) : undefined;
  } catch {
    // Moved, deleted, or on a disk that is not mounted: not there now.
    return undefined;
  }
}

function unknownWorkspace(named: string): CodedError {
  return new CodedError('unknown_workspace', `There is no workspace ${named.slice(0, 80)}.`);
}
