import { useQuery } from '@tanstack/react-query';
import { ExternalLink, Info } from 'lucide-react';
import type { ReactNode } from 'react';
import type { DaemonStatus } from '../../daemon/contract/daemon.ts';
import { queries } from '../api/queries.ts';
import { usePanel } from '../panel-context.ts';
import { Badge } from '../ui/badge.tsx';
import { CopyIcon } from '../ui/copy-button.tsx';
import { QueryState } from '../ui/query-state.tsx';
import { bytesWords, durationWords, exactTime } from '../ui/time-words.ts';
import { useNow } from '../ui/use-now.ts';
import { ScrollView, ViewHeader } from '../ui/view-header.tsx';

export function DaemonView() {
  const { api } = usePanel();
  const status = useQuery({ ...queries.status(api), refetchInterval: 5000 });
  return (
    <ScrollView>
      <ViewHeader title="Daemon" note="The local service that this panel and your agents talk to." />
      {status.data === undefined ? (
        <QueryState query={status} what="the daemon’s state" />
      ) : (
        <>
          <Notices notices={status.data.notices} />
          <Facts status={status.data} />
          <h2 className="mt-8 mb-2 font-semibold">For programs</h2>
          <ul className="divide-y divide-line rounded-lg border border-line">
            <DocumentLink href="/docs" title="API reference" note="Every endpoint, to read and to try" />
            <DocumentLink
              href="/openapi.json"
              title="openapi.json"
              note="The same as OpenAPI 3.1, for tools"
            />
          </ul>
        </>
      )}
    </ScrollView>
  );
}

function Facts({ status }: { status: DaemonStatus }) {
  const now = useNow(1000);
  return (
    <dl className="divide-y divide-line rounded-lg border border-line">
      <Fact name="Version">{status.version}</Fact>
      <Fact name="Environment">
        <Badge tone={status.env === 'test' ? 'warning' : 'neutral'}>{status.env}</Badge>
        <span className="text-faint">
          {status.env === 'test'
            ? 'takes keys that begin with tly_test'
            : 'takes keys that begin with tly_live'}
        </span>
      </Fact>
      <Fact name="Address" copy={status.url}>
        <code className="font-mono text-xs">{status.url}</code>
      </Fact>
      <Fact name="Data folder" copy={status.data_dir}>
        <code className="truncate font-mono text-xs" title={status.data_dir}>
          {status.data_dir}
        </code>
      </Fact>
      <Fact name="Running since">
        <span title={exactTime(status.started_at)}>{durationWords(now - Date.parse(status.started_at))}</span>
      </Fact>
      <Fact name="Memory">{bytesWords(status.memory_bytes)}</Fact>
      <Fact name="Running jobs">{status.running_jobs}</Fact>
      <Fact name="Open streams">{status.open_streams}</Fact>
      <Fact name="Process">{status.pid}</Fact>
      <Fact name="Node.js">
        {status.node.replace(/^v/, '')} on {status.platform}
      </Fact>
    </dl>
  );
}

function Fact({ name, copy, children }: { name: string; copy?: string; children: ReactNode }) {
  return (
    <div className="flex h-9 items-center gap-3 pr-1 pl-3">
      <dt className="w-[140px] shrink-0 text-muted">{name}</dt>
      <dd className="flex min-w-0 flex-1 items-center gap-2 tabular-nums">{children}</dd>
      {copy !== undefined && <CopyIcon text={copy} label={`Copy ${name.toLowerCase()}`} />}
    </div>
  );
}

function Notices({ notices }: { notices: string[] }) {
  if (notices.length === 0) return null;
  return (
    <ul className="mb-5 space-y-2" aria-label="Notices">
      {notices.map((notice) => (
        <li
          key={notice}
          className="flex gap-2.5 rounded-lg border border-warning/30 bg-warning-soft px-3 py-2 text-warning-text"
        >
          <Info className="mt-0.5 size-4 shrink-0" aria-hidden />
          <span className="min-w-0 break-words">{notice}</span>
        </li>
      ))}
    </ul>
  );
}

function DocumentLink({ href, title, note }: { href: string; title: string; note: string }) {
  return (
    <li>
      <a
        href={href}
        target="_blank"
        rel="noreferrer"
        className="flex h-10 items-center gap-3 px-3 hover:bg-hover"
      >
        <span className="font-medium">{title}</span>
        <span className="min-w-0 flex-1 truncate text-faint">{note}</span>
        <ExternalLink className="size-4 text-faint" aria-hidden />
      </a>
    </li>
  );
}
