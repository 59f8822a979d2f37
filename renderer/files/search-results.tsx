import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { SearchMatch, SearchResult } from '../../daemon/contract/files.ts';
import { queries } from '../api/queries.ts';
import { routeTo } from '../frame/route.ts';
import { usePanel } from '../panel-context.ts';
import { classNames } from '../ui/class-names.ts';
import { QueryState } from '../ui/query-state.tsx';
import { countWords } from '../ui/time-words.ts';

type SearchResultsProps = { workspaceId: string; text: string; typing: boolean; selected: string | null };

/** The lines that a search found, by file. */
export function SearchResults({ workspaceId, text, typing, selected }: SearchResultsProps) {
  const { api } = usePanel();
  const query = useQuery({
    ...queries.contentSearch(api, workspaceId, text),
    enabled: text.trim() !== '',
    placeholderData: (before) => before,
  });
  const files = useMemo(() => byFile(query.data?.matches ?? []), [query.data]);
  if (query.data === undefined || query.error !== null)
    return <QueryState query={query} what="what was found" />;
  return (
    <nav aria-label="Search results" className="min-h-0 flex-1 overflow-y-auto px-2 pb-2">
      <p role="status" className="px-2 pb-1 text-xs text-faint">
        {typing || query.isPlaceholderData ? 'Searching…' : summary(query.data, files.length)}
      </p>
      {files.map(([path, matches]) => (
        <section key={path} aria-label={path} className="mb-2">
          <h2 className="truncate px-2 py-1 font-mono text-[11px] text-muted" title={path}>
            {path}
          </h2>
          {matches.map((match) => (
            <a
              key={`${match.line}:${match.column}`}
              href={routeTo('files', path, { line: String(match.line) })}
              className={classNames(
                'flex gap-2 rounded-md px-2 py-[3px] font-mono text-[11px] leading-4 -outline-offset-2',
                path === selected ? 'hover:bg-selected' : 'hover:bg-hover',
              )}
            >
              <span className="min-w-7 shrink-0 text-right text-faint tabular-nums">{match.line}</span>
              <span className="min-w-0 truncate">
                <Found text={match.text.trimStart()} wanted={text} />
              </span>
            </a>
          ))}
        </section>
      ))}
    </nav>
  );
}

function summary({ matches, truncated }: SearchResult, files: number): string {
  if (matches.length === 0) return 'Nothing found';
  const lines = countWords(matches.length, 'line');
  return `${truncated ? `The first ${lines}` : lines} in ${countWords(files, 'file')}`;
}

function byFile(matches: SearchMatch[]): [string, SearchMatch[]][] {
  return [...Map.groupBy(matches, (match) => match.path)];
}

function Found({ text, wanted }: { text: string; wanted: string }) {
  const at = text.toLowerCase().indexOf(wanted.toLowerCase());
  if (at === -1) return text;
  // What comes before is cut, so that the match is in sight.
  const from = at > 24 ? at - 16 : 0;
  return (
    <>
      {from > 0 && '…'}
      {text.slice(from, at)}
      <mark className="rounded-[2px] bg-(--mark) text-inherit">{text.slice(at, at + wanted.length)}</mark>
      {text.slice(at + wanted.length)}
    </>
  );
}
