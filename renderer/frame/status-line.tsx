import { useQuery } from '@tanstack/react-query';
import { queries } from '../api/queries.ts';
import { useConnection, usePanel } from '../panel-context.ts';
import { Badge } from '../ui/badge.tsx';
import { classNames } from '../ui/class-names.ts';
import { countWords } from '../ui/time-words.ts';
import { useWorkspace } from '../workspaces/use-workspace.ts';

export function StatusLine() {
  const { api } = usePanel();
  const connection = useConnection();
  const workspace = useWorkspace();
  const status = useQuery(queries.status(api)).data;
  const running = status?.running_jobs ?? 0;
  return (
    <footer className="col-span-2 flex h-6 items-center gap-4 border-t border-line bg-canvas px-3 text-xs text-muted">
      <span role="status" className="flex items-center gap-1.5 whitespace-nowrap">
        <span aria-hidden className={classNames('size-1.5 rounded-full', dots[connection.status])} />
        {words[connection.status]}
      </span>
      {running > 0 && (
        <a href="#/jobs" className="whitespace-nowrap tabular-nums hover:text-text">
          {countWords(running, 'job')} running
        </a>
      )}
      <span
        className="min-w-0 flex-1 truncate text-right font-mono text-[11px] text-faint"
        title={workspace?.path}
      >
        {workspace?.path}
      </span>
      {status?.env === 'test' && <Badge tone="warning">test environment</Badge>}
      {status !== undefined && <span className="tabular-nums">v{status.version}</span>}
    </footer>
  );
}

const dots = { connected: 'bg-success', connecting: 'bg-warning', lost: 'bg-danger' };
const words = { connected: 'Connected', connecting: 'Connecting…', lost: 'Reconnecting…' };
