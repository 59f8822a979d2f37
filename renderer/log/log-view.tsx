import { ArrowDown } from 'lucide-react';
import { type KeyboardEvent, type MouseEvent, useEffect, useRef, useState } from 'react';
import { dialogIsOpen } from '../frame/use-shortcuts.ts';
import { countWords } from '../ui/time-words.ts';
import { useStored } from '../ui/use-stored.ts';
import type { LogClient, LogSnapshot } from './log-client.ts';
import { LogNotice } from './log-notice.tsx';
import { LogRow } from './log-row.tsx';
import { rowHeight } from './log-scroller.ts';
import { LogToolbar } from './log-toolbar.tsx';
import { type LineRange, useLineSelection } from './use-line-selection.ts';
import { useLogCopy } from './use-log-copy.ts';
import { useLogSearch } from './use-log-search.ts';
import { useLogViewport } from './use-log-viewport.ts';

type LogViewProps = { client: LogClient; log: LogSnapshot; name: string; onRunAgain: () => void };

/** A job's output. Only the rows in sight are in the document; all others are in the log's worker. */
export function LogView({ client, log, name, onRunAgain }: LogViewProps) {
  const scrollElement = useRef<HTMLDivElement>(null);
  const [showNumbers, setShowNumbers] = useStored('tallystick.line-numbers', true);
  const { spacer, viewport, scroller, range } = useLogViewport(scrollElement, client, log);
  const search = useLogSearch(client, log, (row) => scroller()?.toRow(row));
  const selection = useLineSelection();
  const copy = useLogCopy(client, log, name);
  const [focused, setFocused] = useState(false);
  const figures = String(log.end + 1).length;
  useFindKey(search.open);

  function onKeyDown(event: KeyboardEvent) {
    const copies = (event.ctrlKey || event.metaKey) && event.key === 'c';
    if (event.key === 'End') scroller()?.toEnd();
    else if (event.key === 'Home') scroller()?.toStart();
    else if (copies && selection.range !== null && getSelection()?.isCollapsed !== false)
      copy.range(selection.range);
    else if (event.key === 'Escape' && selection.range !== null) selection.clear();
    else {
      if (event.key === 'PageUp' || event.key === 'ArrowUp') scroller()?.release();
      return;
    }
    event.preventDefault();
  }

  function onClick(event: MouseEvent) {
    const target = event.target instanceof Element ? event.target.closest('.log-number') : null;
    const row = Number(target?.parentElement?.dataset.row ?? Number.NaN);
    if (Number.isInteger(row)) selection.pick(row, event.shiftKey);
  }

  const inSight: LineRange = {
    from: log.first + Math.floor(viewport.top / rowHeight),
    to: Math.min(log.end, log.first + Math.ceil((viewport.top + viewport.height) / rowHeight)),
  };

  return (
    <div className="flex min-h-0 flex-1 flex-col border-t border-line">
      <LogToolbar
        search={search}
        selection={selection}
        copy={copy}
        inSight={inSight}
        empty={log.end === log.first}
        showNumbers={showNumbers}
        onShowNumbers={setShowNumbers}
      />
      {log.first > 0 && (
        <p className="border-b border-line bg-warning-soft px-4 py-1 text-xs text-warning-text tabular-nums">
          The oldest {countWords(log.first, 'line')} were dropped to save memory.
        </p>
      )}
      <div className="relative min-h-0 flex-1">
        <section
          ref={scrollElement}
          aria-label="Output"
          // biome-ignore lint/a11y/noNoninteractiveTabindex: without it the keyboard can't scroll
          tabIndex={0}
          onKeyDown={onKeyDown}
          onClick={onClick}
          onFocus={() => setFocused(true)}
          onBlur={() => setFocused(false)}
          onWheel={(event) => event.deltaY < 0 && scroller()?.release()}
          onScroll={() => scroller()?.scrolled()}
          className={`log absolute inset-0 overflow-auto outline-none ${focused ? 'focus-visible:ring-2 focus-visible:ring-accent focus-visible:ring-inset' : ''}`}
        >
          <div ref={spacer} className="relative" style={{ minWidth: `calc(${widthOf(log)}ch + 9ch)` }}>
            <div
              className="absolute inset-x-0 top-0 select-text"
              style={{ transform: `translateY(${(range.from - log.first) * rowHeight - viewport.offset}px)` }}
            >
              {rowNumbers(range).map((index) => {
                const row = client.row(index);
                return row === undefined ? (
                  <div key={index} className="log-row" data-kind="pending" />
                ) : (
                  <LogRow
                    key={index}
                    row={row}
                    numberWidth={showNumbers ? Math.max(3, figures) : 0}
                    selected={selection.has(index)}
                    current={search.current === index}
                  />
                );
              })}
            </div>
          </div>
        </section>
        <LogNotice log={log} onRunAgain={onRunAgain} />
        {!viewport.follow && inSight.to < log.end && (
          <LatestPill log={log} onClick={() => scroller()?.toEnd()} />
        )}
      </div>
    </div>
  );
}

function LatestPill({ log, onClick }: { log: LogSnapshot; onClick: () => void }) {
  const live = log.state.phase === 'streaming';
  return (
    <button
      type="button"
      onClick={onClick}
      className="absolute right-5 bottom-4 flex h-8 animate-fade items-center gap-1.5 rounded-full border border-line-strong bg-raised px-3 text-xs font-medium shadow-raised hover:bg-canvas"
    >
      <ArrowDown className="size-3.5" aria-hidden />
      {live ? 'Jump to latest' : 'Jump to end'}
    </button>
  );
}

/** Ctrl/Cmd-F searches the log wherever the focus is: the browser's own search would find the rows in sight alone. */
function useFindKey(open: () => void) {
  const latest = useRef(open);
  latest.current = open;
  useEffect(() => {
    function onKeyDown(event: globalThis.KeyboardEvent) {
      if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== 'f' || event.shiftKey) return;
      if (dialogIsOpen()) return;
      event.preventDefault();
      latest.current();
    }
    addEventListener('keydown', onKeyDown);
    return () => removeEventListener('keydown', onKeyDown);
  }, []);
}

const maxShownColumns = 8192;

function widthOf(log: LogSnapshot): number {
  return Math.min(log.widest, maxShownColumns);
}

function rowNumbers({ from, to }: LineRange): number[] {
  return Array.from({ length: Math.max(0, to - from) }, (_, index) => from + index);
}
