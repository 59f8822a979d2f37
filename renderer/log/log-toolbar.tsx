import { ChevronDown, ChevronUp, Copy, Download, Ellipsis, Search, X } from 'lucide-react';
import { useEffect, useRef } from 'react';
import { Button, IconButton } from '../ui/button.tsx';
import { commandKey } from '../ui/kbd.tsx';
import { Menu, MenuCheck, MenuItem, MenuSeparator } from '../ui/menu.tsx';
import { countWords } from '../ui/time-words.ts';
import type { LineRange, LineSelection } from './use-line-selection.ts';
import type { LogCopy } from './use-log-copy.ts';
import type { LogSearch } from './use-log-search.ts';

type LogToolbarProps = {
  search: LogSearch;
  selection: LineSelection;
  copy: LogCopy;
  inSight: LineRange;
  empty: boolean;
  showNumbers: boolean;
  onShowNumbers: (show: boolean) => void;
};

export function LogToolbar(props: LogToolbarProps) {
  const { search, selection, copy, inSight, empty } = props;
  const { range } = selection;
  return (
    <div className="flex h-9 shrink-0 items-center gap-1 border-b border-line px-2.5">
      {search.isOpen ? (
        <SearchBox search={search} />
      ) : (
        <Button small variant="ghost" onClick={search.open} title={`Search the output (${commandKey()} F)`}>
          <Search className="size-3.5" aria-hidden />
          Search
        </Button>
      )}
      <span className="flex-1" />
      {range !== null && (
        <span className="flex items-center gap-1 text-xs text-muted tabular-nums">
          {countWords(range.to - range.from, 'line')} selected
          <Button small variant="ghost" onClick={() => copy.range(range)}>
            Copy
          </Button>
          <IconButton label="Clear the selection" onClick={selection.clear}>
            <X />
          </IconButton>
        </span>
      )}
      <IconButton label="Copy all output" disabled={empty} onClick={copy.all}>
        <Copy />
      </IconButton>
      <IconButton label="Download as text" disabled={empty} onClick={copy.download}>
        <Download />
      </IconButton>
      <Menu
        trigger={
          <IconButton label="More for this output">
            <Ellipsis />
          </IconButton>
        }
      >
        <MenuItem disabled={empty} onSelect={() => copy.range(inSight)}>
          Copy the lines in sight
        </MenuItem>
        <MenuItem disabled={empty} onSelect={copy.all}>
          Copy all output
        </MenuItem>
        <MenuItem disabled={empty} onSelect={copy.download}>
          Download as text
        </MenuItem>
        <MenuSeparator />
        <MenuCheck checked={props.showNumbers} onChange={props.onShowNumbers}>
          Line numbers
        </MenuCheck>
      </Menu>
    </div>
  );
}

function SearchBox({ search }: { search: LogSearch }) {
  const input = useRef<HTMLInputElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: every opening takes the focus, also a repeated one
  useEffect(() => {
    input.current?.focus();
    input.current?.select();
  }, [search.openings]);
  return (
    <search className="flex min-w-0 items-center gap-1">
      <div className="relative">
        <Search className="pointer-events-none absolute top-1.5 left-2 size-3.5 text-faint" aria-hidden />
        <input
          ref={input}
          aria-label="Search the output"
          placeholder="Search the output"
          spellCheck={false}
          autoComplete="off"
          value={search.query}
          onChange={(event) => search.setQuery(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter') search.go(event.shiftKey);
            else if (event.key === 'Escape') search.close();
            else return;
            event.preventDefault();
          }}
          className="h-7 w-[clamp(120px,18vw,220px)] rounded-md border border-line-strong bg-surface pr-2 pl-7 text-xs outline-none focus-visible:border-accent"
        />
      </div>
      <IconButton
        label="Match case"
        aria-pressed={search.matchCase}
        onClick={() => search.setMatchCase(!search.matchCase)}
        className="text-xs font-medium"
      >
        Aa
      </IconButton>
      <span role="status" className="min-w-[64px] px-1 text-xs whitespace-nowrap text-muted tabular-nums">
        {countText(search)}
      </span>
      <IconButton label="Previous match" disabled={search.count === 0} onClick={() => search.go(true)}>
        <ChevronUp />
      </IconButton>
      <IconButton label="Next match" disabled={search.count === 0} onClick={() => search.go(false)}>
        <ChevronDown />
      </IconButton>
      <IconButton label="Close the search" onClick={search.close}>
        <X />
      </IconButton>
    </search>
  );
}

function countText({ query, ordinal, count, searching }: LogSearch): string {
  if (query === '') return '';
  const more = searching ? '…' : '';
  if (count === 0) return searching ? 'Searching…' : 'No line';
  return ordinal === 0
    ? `${countWords(count, 'line')}${more}`
    : `${ordinal.toLocaleString('en')} of ${count.toLocaleString('en')}${more}`;
}
