import { FolderGit2 } from 'lucide-react';
import type { RecentProject } from '../../daemon/contract/projects.ts';
import type { SshHost } from '../../daemon/contract/ssh.ts';
import { goTo } from '../frame/route.ts';
import type { JobEntry } from '../jobs/job-entries.ts';
import { RunBar } from '../jobs/run-bar.tsx';
import { Button } from '../ui/button.tsx';
import { CopyIcon } from '../ui/copy-button.tsx';
import { EmptyState } from '../ui/empty-state.tsx';
import { HostJobs } from './host-jobs.tsx';
import { TestButton, TestResult, useTest } from './host-test.tsx';
import { addressWords, wayWords } from './host-words.ts';
import { PullFile } from './pull-file.tsx';
import { UnsupportedHost } from './unsupported-host.tsx';

type HostPaneProps = {
  host: SshHost;
  workspace: RecentProject | undefined;
  /** What runs there or ran lately. */
  jobs: JobEntry[];
};

/** One host: whether it can be reached, and what can be done there. */
export function HostPane({ host, workspace, jobs }: HostPaneProps) {
  const [test, start] = useTest(host.host);
  const way = wayWords(host);
  const history = [...new Set(jobs.map((job) => job.cmd))];
  return (
    <section aria-label={`Host ${host.host}`} className="flex min-h-0 min-w-0 flex-col">
      <header className="shrink-0 border-b border-line px-4 py-2.5">
        <div className="flex items-start gap-2">
          <div className="min-w-0 flex-1">
            <h2 className="truncate text-base leading-7 font-semibold select-text">{host.host}</h2>
            <p className="flex min-w-0 flex-wrap items-center gap-x-3 text-xs text-faint">
              <span className="flex min-w-0 items-center">
                <span className="truncate font-mono select-text">{addressWords(host)}</span>
                <CopyIcon text={addressWords(host)} label="Copy address" />
              </span>
              {way !== undefined && <span>{way}</span>}
            </p>
          </div>
          {host.supported && <TestButton test={test} onTest={start} />}
        </div>
        {host.supported && <TestResult test={test} onTest={start} />}
      </header>
      {!host.supported && <UnsupportedHost host={host} />}
      {host.supported && workspace === undefined && <NoWorkspace />}
      {host.supported && workspace !== undefined && (
        <>
          <RunBar history={history} workspaceName={workspace.name} focus={false} host={host.host} />
          <div className="min-h-0 flex-1 space-y-7 overflow-y-auto px-4 pt-4 pb-10">
            <PullFile host={host.host} workspace={workspace} />
            <HostJobs jobs={jobs} workspaceId={workspace.ws_id} />
          </div>
        </>
      )}
    </section>
  );
}

function NoWorkspace() {
  return (
    <EmptyState
      icon={<FolderGit2 />}
      title="No workspace is open"
      action={
        <Button variant="primary" onClick={() => goTo('workspaces')}>
          Open a workspace
        </Button>
      }
    >
      Open one to run commands on this host and to pull files from it. Its receipts record both.
    </EmptyState>
  );
}
