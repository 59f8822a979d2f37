import type { SearchMatch } from '../contract/files.ts';

export interface SearchQuery {
  readonly pattern: string;
  readonly regex: boolean;
  readonly caseSensitive: boolean;
  /** Real byte path of the folder or file to look in; '' for the workspace. */
  readonly path: string;
  /** As a line of .gitignore, but for what is to be looked at; with `!` in front, for what is not. */
  readonly glob: string | undefined;
  /** Matches to give at the most. */
  readonly limit: number;
  /** Whether the client has gone. */
  readonly signal: AbortSignal;
}

export interface SearchEngine {
  /** Byte path of the file, and the match; answers false when it wants no more. */
  readonly onMatch: (path: string, match: Omit<SearchMatch, 'path'>) => boolean;
}

/** Larger files are left out. */
export const maxSearchedBytes = 4 * 1024 * 1024;
export const searchTimeoutMs = 10_000;
