import type { SearchMatch, SearchResult } from '../contract/files.ts';
import { IgnoreRules } from '../lib/ignore-rules.ts';
import { builtinSearch } from './builtin-search.ts';
import { ripgrepSearch } from './ripgrep.ts';
import type { SearchEngine, SearchQuery } from './search-query.ts';

export interface SearchTools {
  /** Absolute path of the program; null where there is none. */
  readonly ripgrep: string | null;
  /** Of the daemon: git's own settings are found by it, and ripgrep gets what it needs of it. */
  readonly environment: NodeJS.ProcessEnv;
}

/**
 * Lines that match, a match per line, in the text files of a folder: those that git would ignore are left out, unless the
 * folder is ignored itself, and what git and the service keep for themselves always is. No link is followed.
 *
 * @throws CodedError invalid_request for a pattern or glob that is not valid
 */
export async function searchFiles(
  root: string,
  query: SearchQuery,
  { ripgrep, environment }: SearchTools,
): Promise<SearchResult> {
  const startedMs = performance.now();
  const rules = new IgnoreRules(root, { environment });
  const found: { readonly path: string; readonly match: SearchMatch }[] = [];
  let full = false;
  const takeIgnored = query.path !== '' && rules.ignores(query.path, true);
  const engine: SearchEngine = {
    onMatch: (path, match) => {
      if (!takeIgnored && rules.ignores(path, false)) return true;
      if (found.length === query.limit) full = true;
      else found.push({ path, match: { path: Buffer.from(path, 'latin1').toString('utf8'), ...match } });
      return !full;
    },
  };
  const { complete } =
    ripgrep === null
      ? await builtinSearch(root, query, { ...engine, rules })
      : await ripgrepSearch(root, query, { ...engine, program: ripgrep, environment });
  return {
    matches: found.sort(byPlace).map(({ match }) => match),
    truncated: full || !complete,
    engine: ripgrep === null ? 'builtin' : 'ripgrep',
    duration_ms: Math.round(performance.now() - startedMs),
  };
}

function byPlace(a: { path: string; match: SearchMatch }, b: { path: string; match: SearchMatch }): number {
  if (a.path !== b.path) return a.path < b.path ? -1 : 1;
  return a.match.line - b.match.line;
}
