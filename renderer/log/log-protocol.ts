import type { EndReason } from '../../daemon/contract/shell.ts';
import type { SearchTerm } from './search-term.ts';
import type { ViewRow } from './view-rows.ts';

/** What the worker needs to read a job's stream; the token is the panel's own session. */
export type LogSource = { jobId: string; workspaceId: string; token: string; baseUrl: string };

export type LogExit = {
  code: number;
  signal: string | null;
  reason: EndReason | null;
  runId: string | null;
  /** null where the command changed no file; undefined where that was not known yet. */
  receiptId: string | null | undefined;
  filesChanged: number;
  /** How many times `***` stands for a secret. */
  masked: number;
};

/** How the stream stands: whether more lines can come, and if not, why. */
export type LogState =
  | { phase: 'connecting' }
  | { phase: 'streaming' }
  | { phase: 'retrying'; detail: string }
  | { phase: 'ended'; exit: LogExit }
  | { phase: 'gone' }
  | { phase: 'signed-out' }
  | { phase: 'failed'; detail: string };

type SearchState = { term: SearchTerm; count: number; searching: boolean };

export type LogProgress = {
  state: LogState;
  first: number;
  end: number;
  /** Bytes of the longest line. */
  widest: number;
  /** Lines that the command has printed, those `missing` included. */
  lines: number;
  /** Lines that never arrived because this reader was too slow, or that the daemon no longer had. */
  missing: number;
  search: SearchState | null;
};

export type ToLogWorker =
  | { type: 'open'; source: LogSource }
  /** The rows in sight. With `follow` the worker sends the last `count` rows along with every progress. */
  | { type: 'view'; from: number; count: number; follow: boolean }
  | { type: 'search'; term: SearchTerm | null }
  | { type: 'find'; request: number; from: number; backwards: boolean }
  | { type: 'text'; request: number; from: number; to: number }
  | { type: 'file'; request: number };

export type FromLogWorker =
  | { type: 'progress'; progress: LogProgress; rows: ViewRow[] }
  | { type: 'found'; request: number; match: { row: number; ordinal: number } | null }
  | { type: 'text'; request: number; text: string }
  | { type: 'file'; request: number; file: Blob };
