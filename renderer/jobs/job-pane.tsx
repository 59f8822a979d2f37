import { RotateCcw, Square } from 'lucide-react';
import { useEffect } from 'react';
import { LogView } from '../log/log-view.tsx';
import { usePanel } from '../panel-context.ts';
import { Button } from '../ui/button.tsx';
import { CopyIcon } from '../ui/copy-button.tsx';
import { exactTime } from '../ui/time-words.ts';
import type { JobEntry } from './job-entries.ts';
import { JobFooter } from './job-footer.tsx';
import { JobStatus } from './job-status.tsx';
import { useLog } from './use-log.ts';
import { commandAgain, useRunCommand } from './use-run-command.ts';
import { useStop } from './use-stop.ts';

/** One command: what it is, what can be done with it, its output, and how it ended. */
export function JobPane({ entry, workspaceId }: { entry: JobEntry; workspaceId: string }) {
  const { session } = usePanel();
  const [client, log] = useLog(entry.jobId, workspaceId);
  const run = useRunCommand();
  const stop = useStop(entry.jobId, workspaceId);
  const again = () => run.mutate(commandAgain(entry));
  const running = entry.running !== undefined && log.state.phase !== 'ended';
  useEffect(() => {
    if (log.state.phase === 'signed-out') session.expire();
  }, [log.state.phase, session]);
  return (
    <section aria-label="Job" className="flex min-h-0 flex-col">
      <header className="flex items-start gap-2 px-4 py-2.5">
        <div className="min-w-0 flex-1">
          <div className="flex items-center gap-1">
            <h2 className="truncate font-mono text-xs leading-7 font-medium select-text" title={entry.cmd}>
              {entry.cmd}
            </h2>
            <CopyIcon text={entry.cmd} label="Copy command" />
          </div>
          <p className="flex flex-wrap items-center gap-x-3 gap-y-1 text-xs text-faint tabular-nums">
            {!stop.stopping && <JobStatus entry={entry} />}
            {facts(entry).map((fact) => (
              <span key={fact}>{fact}</span>
            ))}
          </p>
        </div>
        {running ? (
          <Button small disabled={stop.stopping} onClick={stop.stop}>
            <Square className="size-3 fill-current text-danger" aria-hidden />
            {stop.stopping ? 'Stopping…' : 'Stop'}
          </Button>
        ) : (
          <Button small disabled={run.isPending} onClick={again}>
            <RotateCcw className="size-3.5" aria-hidden />
            Run again
          </Button>
        )}
      </header>
      <LogView client={client} log={log} name={entry.cmd} onRunAgain={again} />
      <JobFooter entry={entry} log={log} stopping={running && stop.stopping} workspaceId={workspaceId} />
    </section>
  );
}

function facts(entry: JobEntry): string[] {
  const { running } = entry;
  return [
    placeWords(entry),
    entry.origin === 'api' ? 'from the API' : 'from the panel',
    exactTime(entry.startedAt),
    running === undefined || running.pid === 0 ? '' : `process ${running.pid}`,
    running === undefined ? '' : `limit ${running.timeout} s`,
    running === undefined || running.free_ports.length === 0 ? '' : `port ${running.free_ports.at(-1)}`,
  ].filter((fact) => fact !== '');
}

/** A command on another host starts in the home folder there, which is nothing to tell. */
function placeWords({ host, cwd }: JobEntry): string {
  if (host !== undefined) return `on ${host}`;
  return cwd === '.' ? '' : `in ${cwd}`;
}
