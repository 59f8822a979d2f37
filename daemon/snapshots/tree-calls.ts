import type { FileDiff } from '../contract/receipts.ts';
import type { SnapshotRecord, TreeChange } from './entry-state.ts';

/** What a command did to the tree. */
export interface RunChanges {
  readonly changes: readonly TreeChange[];
  /** Of the files whose content changed, in the order of `changes`. */
  readonly diffs: readonly FileDiff[];
  /** Other runs that were under way at some time between the run's begin and its end. */
  readonly concurrent: readonly string[];
}

export interface Content {
  /** Git blob id, 40 hex digits. */
  readonly oid: string;
  readonly bytes: Uint8Array;
}

export interface SnapshotLimits {
  readonly maxCount: number;
  /** Of the contents that only snapshots hold, as they are stored. */
  readonly maxBytes: number;
}

/** What the worker thread can be asked for; docs of `TreeKeeper` say what each does. */
export interface TreeCalls {
  begin(runId: string, cookie: string | null): Promise<void>;
  end(runId: string, cookie: string | null): Promise<RunChanges>;
  cancel(runId: string): Promise<void>;
  note(changes: readonly TreeChange[], contents: readonly Content[]): Promise<void>;
  store(blobs: readonly Uint8Array[]): string[];
  read(oid: string): Uint8Array | null;
  has(oid: string): boolean;
  flush(snapshots: readonly SnapshotRecord[], blobs: readonly Uint8Array[]): void;
  snapshot(snapshotId: string): SnapshotRecord | null;
  close(): void;
}

export interface TreeWorkerData {
  readonly root: string;
  readonly folder: string;
  readonly limits: SnapshotLimits;
  /** Runs that were under way when the daemon or the worker died: what differs from the saved baseline is theirs. */
  readonly interrupted: readonly string[];
  /** Null: of the system. */
  readonly maxQueuedEvents: number | null;
  /** Null: as many as the system allows. 0: full scans only. */
  readonly maxWatchedFolders: number | null;
}

export type NoticeCode =
  | 'watcher_off'
  | 'worker_restarted'
  | 'worker_lost'
  | 'pack_damaged'
  | 'fold_failed'
  | 'not_stored';

export interface KeeperNotice {
  readonly code: NoticeCode;
  /** A sentence for people. */
  readonly detail: string;
}

export interface WorkerRequest {
  readonly id: number;
  readonly call: keyof TreeCalls;
  readonly args: readonly unknown[];
}

export interface WorkerFault {
  readonly code: string;
  readonly path: string;
  readonly fatal: boolean;
  readonly message: string;
}

export type WorkerMessage =
  | { readonly kind: 'answer'; readonly id: number; readonly value: unknown }
  | { readonly kind: 'fault'; readonly id: number; readonly fault: WorkerFault }
  /** The baseline is known. */
  | { readonly kind: 'ready'; readonly watching: boolean }
  | { readonly kind: 'watching'; readonly watching: boolean }
  | { readonly kind: 'notice'; readonly notice: KeeperNotice };

/** Folder of cookies below the keeper's own; a cookie is a link in it, named by these. */
export const cookieFolder = 'cookies';
