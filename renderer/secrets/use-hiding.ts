import { useEffect, useRef, useState } from 'react';

/**
 * Calls `hide` once `ms` have passed since the first render, or as soon as nobody can be looking: the tab or window is
 * out of sight, or the page is left. Answers the seconds that are left.
 */
export function useHiding(ms: number, hide: () => void): number {
  const latest = useRef(hide);
  latest.current = hide;
  const [until] = useState(() => Date.now() + ms);
  const [left, setLeft] = useState(ms);
  useEffect(() => {
    // Looked at often, not counted down: after a computer has slept, the time is over at once.
    const timer = setInterval(() => {
      const rest = until - Date.now();
      if (rest <= 0) latest.current();
      else setLeft(rest);
    }, 200);
    const hideNow = () => latest.current();
    const hideUnseen = () => document.hidden && latest.current();
    document.addEventListener('visibilitychange', hideUnseen);
    addEventListener('pagehide', hideNow);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', hideUnseen);
      removeEventListener('pagehide', hideNow);
    };
  }, [until]);
  return Math.ceil(left / 1000);
}
