import { useEffect, useRef, useState } from 'react';
import type { LogClient, LogSnapshot } from './log-client.ts';

export type LogSearch = {
  isOpen: boolean;
  query: string;
  matchCase: boolean;
  /** Row of the match that was gone to last. */
  current: number | null;
  ordinal: number;
  count: number;
  searching: boolean;
  open: () => void;
  close: () => void;
  setQuery: (query: string) => void;
  setMatchCase: (matchCase: boolean) => void;
  go: (backwards: boolean) => void;
  /** Counts the openings, so that the field can take the focus again. */
  openings: number;
};

/** Searching in a log: the worker does it, this holds what was asked for and where it stands. */
export function useLogSearch(client: LogClient, log: LogSnapshot, show: (row: number) => void): LogSearch {
  const [openings, setOpenings] = useState(0);
  const [isOpen, setIsOpen] = useState(false);
  const [query, setQuery] = useState('');
  const [matchCase, setMatchCase] = useState(false);
  const [match, setMatch] = useState<{ row: number; ordinal: number } | null>(null);
  const latest = useRef({ log, show });
  latest.current = { log, show };
  /** Where the last step came to, before it is drawn: steps that are asked for faster than that each count. */
  const at = useRef(match);
  const steps = useRef(Promise.resolve());

  useEffect(() => {
    let outdated = false;
    at.current = null;
    setMatch(null);
    if (!isOpen || query === '') return client.search(null);
    const timer = setTimeout(async () => {
      client.search({ query, matchCase });
      const found = await client.find(latest.current.log.first, false);
      if (outdated || found === null) return;
      at.current = found;
      setMatch(found);
      latest.current.show(found.row);
    }, typingPauseMs);
    return () => {
      outdated = true;
      clearTimeout(timer);
    };
  }, [client, isOpen, query, matchCase]);

  useEffect(() => () => client.search(null), [client]);

  async function step(backwards: boolean) {
    const from = at.current === null ? latest.current.log.first : at.current.row + (backwards ? -1 : 1);
    const found = await client.find(from, backwards);
    at.current = found;
    setMatch(found);
    if (found !== null) latest.current.show(found.row);
  }

  return {
    isOpen,
    query,
    matchCase,
    current: match?.row ?? null,
    ordinal: match?.ordinal ?? 0,
    count: log.search?.count ?? 0,
    searching: log.search?.searching ?? false,
    open: () => {
      setIsOpen(true);
      setOpenings((count) => count + 1);
    },
    close: () => setIsOpen(false),
    setQuery,
    setMatchCase,
    go: (backwards) => {
      steps.current = steps.current.then(() => step(backwards));
    },
    openings,
  };
}

/** A search begins once typing rests: neither the view nor the worker jumps with every letter. */
const typingPauseMs = 120;
