import { useEffect, useRef } from 'react';
import { Button } from './button.tsx';

type LoadMoreProps = {
  /** What is fetched, in the plural: "older receipts". */
  what: string;
  fetching: boolean;
  failed: boolean;
  /** How many are shown already. */
  shown: number;
  onMore: () => void;
};

/** The end of a list that has more: fetches it when it comes into sight, and again while it stays there. */
export function LoadMore({ what, fetching, failed, shown, onMore }: LoadMoreProps) {
  const end = useRef<HTMLDivElement>(null);
  const latest = useRef(onMore);
  latest.current = onMore;
  // biome-ignore lint/correctness/useExhaustiveDependencies: a longer list may leave the end in sight
  useEffect(() => {
    if (end.current === null || fetching || failed) return;
    const observer = new IntersectionObserver(
      ([entry]) => entry?.isIntersecting === true && latest.current(),
      { rootMargin: '300px' },
    );
    observer.observe(end.current);
    return () => observer.disconnect();
  }, [shown, fetching, failed]);
  return (
    <div ref={end} className="px-4 py-3 text-center text-xs text-faint">
      {fetching ? (
        <span role="status">Loading {what}…</span>
      ) : (
        <Button small variant="ghost" onClick={onMore}>
          {failed ? `Could not load ${what}. Try again` : `Show ${what}`}
        </Button>
      )}
    </div>
  );
}
