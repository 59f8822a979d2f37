/** A file, link or empty folder as it was or is. */
export interface EntryState {
  readonly mode: '100644' | '100755' | '120000' | '040000';
  /** `sha256:` and 64 hex digits over the content (of a link: its target); `absent` for an empty folder. */
  readonly hash: string;
  /** Bytes. */
  readonly size: number;
  /** Git blob id (40 hex digits) under which the content is kept; null where it is not: an empty folder, or over 10 MiB. */
  readonly oid: string | null;
}

/** What became of one path; null where there was, or is, nothing. */
export interface TreeChange {
  /** Byte path, relative to the workspace; of an empty folder with a `/` at its end. */
  readonly path: string;
  readonly before: EntryState | null;
  readonly after: EntryState | null;
}

/** What the touched files of one mutation were before it: enough, with the objects, to put them back. */
export interface SnapshotRecord {
  readonly snapshot_id: string;
  readonly run_id: string;
  /** Position of the receipt in the chain. */
  readonly seq: number;
  readonly entries: readonly { readonly path: string; readonly state: EntryState | null }[];
}

/** Content over this many bytes is hashed but not kept. */
export const maxKeptBytes = 10 * 1024 * 1024;
