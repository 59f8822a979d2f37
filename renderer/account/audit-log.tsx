import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import {
  Eye,
  FileKey2,
  History,
  KeyRound,
  type LucideIcon,
  Pencil,
  RefreshCw,
  ShieldAlert,
  Trash2,
} from 'lucide-react';
import { Fragment, useMemo } from 'react';
import type { AuditEntry, AuditEvent } from '../../daemon/contract/audit-log.ts';
import { queries } from '../api/queries.ts';
import { usePanel } from '../panel-context.ts';
import { actorWords } from '../receipts/receipt-words.ts';
import { useKeyNames } from '../receipts/use-receipts.ts';
import { byDay, dayWords, timeOfDay } from '../ui/days.ts';
import { LoadMore } from '../ui/load-more.tsx';
import { QueryState } from '../ui/query-state.tsx';
import { exactTime } from '../ui/time-words.ts';
import { useNow } from '../ui/use-now.ts';
import { auditDeed } from './audit-words.ts';

/** Who used which secret or key, and when: newest first, by day. */
export function AuditLog() {
  const { api } = usePanel();
  const now = useNow(30_000);
  const query = useInfiniteQuery(queries.auditLog(api));
  const entries = useMemo(() => query.data?.pages.flatMap((page) => page.entries) ?? [], [query.data]);
  const days = useMemo(() => byDay(entries), [entries]);
  if (query.data === undefined) return <QueryState query={query} what="the audit log" />;
  if (entries.length === 0)
    return (
      <p className="rounded-lg border border-dashed border-line-strong py-8 text-center text-muted">
        Nothing yet. Setting, revealing and deleting a secret is written here.
      </p>
    );
  return (
    <div className="overflow-hidden rounded-lg border border-line">
      {days.map(({ day, items }) => (
        <section
          key={day}
          aria-label={dayWords(day, now)}
          className="not-first:border-t not-first:border-line"
        >
          <h3 className="border-b border-line bg-inset px-3 py-1.5 text-xs font-medium text-faint">
            {dayWords(day, now)}
          </h3>
          <ol className="divide-y divide-line">
            {items.map((entry) => (
              <Entry key={entry.seq} entry={entry} />
            ))}
          </ol>
        </section>
      ))}
      {query.hasNextPage && (
        <LoadMore
          what="older entries"
          fetching={query.isFetchingNextPage}
          failed={query.isFetchNextPageError}
          shown={entries.length}
          onMore={() => void query.fetchNextPage()}
        />
      )}
    </div>
  );
}

function Entry({ entry }: { entry: AuditEntry }) {
  const keyNames = useKeyNames();
  const workspace = useWorkspaceName(entry.ws_id);
  const Icon = eventIcons[entry.event] ?? History;
  const { verb, objects, more, after } = auditDeed(entry, keyNames);
  return (
    <li className="flex items-start gap-2.5 px-3 py-2" title={entry.names?.join('\n')}>
      <Icon className="mt-0.5 size-4 shrink-0 text-faint" aria-hidden />
      <span className="min-w-0 flex-1 break-words">
        <span className="font-medium">{actorWords(entry.actor, keyNames)}</span> {verb}
        {objects.map((object, index) => (
          <Fragment key={object}>
            {index === 0 ? ' ' : ', '}
            {entry.event.startsWith('api_key.') ? (
              `“${object}”`
            ) : (
              <code className="font-mono text-xs">{object}</code>
            )}
          </Fragment>
        ))}
        {more > 0 && ` and ${more} more`} {after}
        {workspace !== undefined && <span className="text-muted"> in {workspace}</span>}
      </span>
      <time
        dateTime={entry.timestamp}
        title={exactTime(entry.timestamp)}
        className="shrink-0 text-xs leading-[19px] text-faint tabular-nums"
      >
        {timeOfDay(entry.timestamp)}
      </time>
    </li>
  );
}

/** A workspace that was taken off the list since has its id alone. */
function useWorkspaceName(id: string | undefined): string | undefined {
  const { api } = usePanel();
  const projects = useQuery(queries.projects(api)).data;
  return projects?.find((project) => project.ws_id === id)?.name ?? id;
}

const eventIcons: Record<AuditEvent, LucideIcon> = {
  'secret.set': Pencil,
  'secret.reveal': Eye,
  'secret.delete': Trash2,
  'secret.import': FileKey2,
  'secret.recover': ShieldAlert,
  'master_key.create': KeyRound,
  'master_key.rotate': RefreshCw,
  'master_key.export': KeyRound,
  'master_key.import': KeyRound,
  'api_key.create': KeyRound,
  'api_key.revoke': KeyRound,
};
