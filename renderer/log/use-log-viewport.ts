import { type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react';
import type { LogClient, LogSnapshot } from './log-client.ts';
import { LogScroller, type LogViewport, rowHeight } from './log-scroller.ts';
import type { LineRange } from './use-line-selection.ts';

/** Ties the scroller to the log: which rows are in sight, and asking the worker for them. */
export function useLogViewport(element: RefObject<HTMLElement | null>, client: LogClient, log: LogSnapshot) {
  const spacer = useRef<HTMLDivElement>(null);
  const scroller = useRef<LogScroller>(undefined);
  const [viewport, setViewport] = useState<LogViewport>(initial);

  useLayoutEffect(() => {
    if (element.current === null || spacer.current === null) return;
    const created = new LogScroller(element.current, spacer.current, setViewport);
    scroller.current = created;
    const resizes = new ResizeObserver(() => created.resized());
    resizes.observe(element.current);
    return () => {
      resizes.disconnect();
      created.close();
    };
  }, [element]);

  useLayoutEffect(() => scroller.current?.setRows(log.first, log.end), [log.first, log.end]);

  const range = rangeOf(viewport, log);
  const { follow } = viewport;
  const wanted = follow ? rowsIn(viewport) + overscan : range.to - range.from + 2 * prefetch;
  // While it follows, the worker sends the newest rows by itself: asking for each would be twice the messages.
  const from = follow ? 0 : Math.max(0, range.from - prefetch);
  useEffect(() => client.setView(from, wanted, follow), [client, from, wanted, follow]);

  return { spacer, viewport, scroller: () => scroller.current, range };
}

const initial: LogViewport = { top: 0, height: 0, offset: 0, spacerHeight: 0, follow: true };

/** Rows drawn beyond each edge, so that a quick scroll finds them there. */
const overscan = 20;
/** Rows asked for beyond those. */
const prefetch = 60;

function rowsIn(viewport: LogViewport): number {
  return Math.ceil(viewport.height / rowHeight) + 1;
}

function rangeOf(viewport: LogViewport, log: LogSnapshot): LineRange {
  const first = log.first + Math.floor(viewport.top / rowHeight);
  return {
    from: Math.max(log.first, first - overscan),
    to: Math.min(log.end, first + rowsIn(viewport) + overscan),
  };
}
