import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { ReceiptSummary } from '../../daemon/contract/receipts.ts';
import { queries, type ReceiptFilter } from '../api/queries.ts';
import { usePanel } from '../panel-context.ts';

export type Who = 'anyone' | 'you' | 'agents';

/** The list as far as it was fetched, newest first. Who made a change is picked out here: the daemon does not filter by it. */
export function useReceipts(workspaceId: string, filter: ReceiptFilter, who: Who) {
  const { api } = usePanel();
  const query = useInfiniteQuery(queries.receipts(api, workspaceId, filter));
  const receipts = useMemo(
    () => query.data?.pages.flatMap((page) => page.receipts.filter((one) => isBy(one, who))),
    [query.data, who],
  );
  const unreadable = useMemo(
    () => [...new Set(query.data?.pages.flatMap((page) => page.unreadable ?? []))],
    [query.data],
  );
  return { query, receipts, unreadable };
}

function isBy({ actor }: ReceiptSummary, who: Who): boolean {
  return who === 'anyone' || (who === 'you') === (actor.type === 'session');
}

/** Names of the API keys by their ids, revoked ones included. */
export function useKeyNames(): ReadonlyMap<string, string> {
  const { api } = usePanel();
  const { data } = useQuery(queries.keys(api));
  return useMemo(() => new Map(data?.map((key) => [key.key_id, key.name])), [data]);
}
