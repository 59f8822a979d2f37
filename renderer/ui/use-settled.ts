import { useEffect, useState } from 'react';

/** The value once it has not changed for `ms`: so that typing asks the daemon once, not at every letter. */
export function useSettled(value: string, ms: number): string {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return settled;
}
