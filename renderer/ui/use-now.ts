import { useEffect, useState } from 'react';

/** The time, renewed every `everyMs`: for words like "5 min ago" and for durations that run. */
export function useNow(everyMs: number): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}
