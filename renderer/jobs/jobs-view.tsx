import { useQuery } from '@tanstack/react-query';
import { FolderGit2, SquareTerminal } from 'lucide-react';
import { useState } from 'react';
import type { RecentProject } from '../../daemon/contract/projects.ts';
import { queries } from '../api/queries.ts';
import { goTo } from '../frame/route.ts';
import { curlExample } from '../keys/curl-example.ts';
import { usePanel } from '../panel-context.ts';
import { Button } from '../ui/button.tsx';
import { CodeBlock } from '../ui/code-block.tsx';
import { EmptyState } from '../ui/empty-state.tsx';
import { QueryState } from '../ui/query-state.tsx';
import { useWorkspace } from '../workspaces/use-workspace.ts';
import { distinctCommands, jobEntries } from './job-entries.ts';
import { JobList } from './job-list.tsx';
import { JobPane } from './job-pane.tsx';
import { RunBar } from './run-bar.tsx';

type JobsViewProps = { selected: string | null; options: URLSearchParams };

export function JobsView({ selected, options }: JobsViewProps) {
  const { api } = usePanel();
  const projects = useQuery(queries.projects(api));
  const workspace = useWorkspace();
  if (workspace !== undefined)
    return (
      <WorkspaceJobs
        key={workspace.ws_id}
        workspace={workspace}
        selected={selected}
        host={options.get('host') ?? undefined}
      />
    );
  if (projects.data === undefined) return <QueryState query={projects} what="workspaces" />;
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
      Jobs are the commands that run in a workspace. Open one to see them.
    </EmptyState>
  );
}

type WorkspaceJobsProps = {
  workspace: RecentProject;
  selected: string | null;
  /** Where the command field runs commands at first; undefined: here. */
  host: string | undefined;
};

function WorkspaceJobs({ workspace, selected, host: firstHost }: WorkspaceJobsProps) {
  const { api } = usePanel();
  const [host, setHost] = useState(firstHost);
  const hosts = useQuery(queries.sshHosts(api)).data ?? [];
  const jobs = useQuery(queries.jobs(api, workspace.ws_id));
  const recent = useQuery(queries.recent(api, workspace.ws_id));
  const entries = jobEntries(jobs.data ?? [], recent.data ?? []);
  const loaded = jobs.data !== undefined && recent.data !== undefined;
  const shown = entries.find((entry) => entry.jobId === selected) ?? entries[0];
  const there = (recent.data ?? []).filter((command) => command.host === host);
  const history = distinctCommands(there, 50).map((command) => command.cmd);
  return (
    <div className="flex h-full flex-col">
      <h1 className="sr-only">Jobs in {workspace.name}</h1>
      <RunBar
        history={[...new Set(history)]}
        workspaceName={workspace.name}
        focus={selected === 'run'}
        host={host}
        hosts={hosts.filter((one) => one.supported).map((one) => one.host)}
        onHost={setHost}
      />
      {!loaded && <QueryState query={jobs.error === null ? recent : jobs} what="jobs" />}
      {loaded && shown === undefined && <NoJobs workspace={workspace} />}
      {loaded && shown !== undefined && (
        <div className="grid min-h-0 flex-1 grid-cols-[236px_minmax(0,1fr)] min-[1040px]:grid-cols-[300px_minmax(0,1fr)]">
          <div className="min-h-0 border-r border-line">
            <JobList entries={entries} selected={shown.jobId} onSelect={(jobId) => goTo('jobs', jobId)} />
          </div>
          <JobPane key={shown.jobId} entry={shown} workspaceId={workspace.ws_id} />
        </div>
      )}
    </div>
  );
}

function NoJobs({ workspace }: { workspace: RecentProject }) {
  return (
    <div className="overflow-y-auto">
      <EmptyState icon={<SquareTerminal />} title={`Nothing has run in ${workspace.name} yet`}>
        Run a command above, or let an agent run one with an API key. Its output shows up here while it runs.
      </EmptyState>
      <div className="mx-auto -mt-8 max-w-[560px] px-6 pb-10">
        <CodeBlock text={curlExample({ workspaceId: workspace.ws_id })} label="Copy the example call" />
      </div>
    </div>
  );
}
