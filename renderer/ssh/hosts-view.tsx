import { useQuery } from '@tanstack/react-query';
import type { RecentProject } from '../../daemon/contract/projects.ts';
import type { SshHost } from '../../daemon/contract/ssh.ts';
import { queries } from '../api/queries.ts';
import { goTo } from '../frame/route.ts';
import { type JobEntry, jobEntries } from '../jobs/job-entries.ts';
import { usePanel } from '../panel-context.ts';
import { QueryState } from '../ui/query-state.tsx';
import { useWorkspace } from '../workspaces/use-workspace.ts';
import { HostList } from './host-list.tsx';
import { HostPane } from './host-pane.tsx';
import { NoHosts } from './no-hosts.tsx';

/** The hosts of the SSH configuration, and what can be done with one of them. */
export function HostsView({ selected }: { selected: string | null }) {
  const { api } = usePanel();
  const query = useQuery(queries.sshHosts(api));
  const workspace = useWorkspace();
  const refresh = () => void query.refetch();
  if (query.data === undefined)
    return (
      <>
        <h1 className="sr-only">SSH hosts</h1>
        <QueryState query={query} what="SSH hosts" />
      </>
    );
  if (query.data.length === 0) return <NoHosts onRefresh={refresh} />;
  return (
    <Hosts
      key={workspace?.ws_id}
      hosts={query.data}
      selected={selected}
      workspace={workspace}
      refreshing={query.isFetching}
      onRefresh={refresh}
    />
  );
}

type HostsProps = {
  hosts: SshHost[];
  selected: string | null;
  workspace: RecentProject | undefined;
  refreshing: boolean;
  onRefresh: () => void;
};

function Hosts({ hosts, selected, workspace, refreshing, onRefresh }: HostsProps) {
  const jobs = useRemoteJobs(workspace);
  const shown = hosts.find((one) => one.host === selected) ?? hosts.find((one) => one.supported) ?? hosts[0];
  const running = jobs.filter((job) => job.running !== undefined);
  return (
    <div className="grid h-full grid-cols-[236px_minmax(0,1fr)] min-[1040px]:grid-cols-[300px_minmax(0,1fr)]">
      <HostList
        hosts={hosts}
        running={running}
        selected={shown?.host}
        refreshing={refreshing}
        onRefresh={onRefresh}
        onSelect={(host) => goTo('hosts', host)}
      />
      {shown !== undefined && (
        <HostPane
          key={shown.host}
          host={shown}
          workspace={workspace}
          jobs={jobs.filter((job) => job.host === shown.host)}
        />
      )}
    </div>
  );
}

/** What this workspace runs, or ran lately, on other hosts. */
function useRemoteJobs(workspace: RecentProject | undefined): JobEntry[] {
  const { api } = usePanel();
  const enabled = workspace !== undefined;
  const id = workspace?.ws_id ?? '';
  const jobs = useQuery({ ...queries.jobs(api, id), enabled });
  const recent = useQuery({ ...queries.recent(api, id), enabled });
  return jobEntries(jobs.data ?? [], recent.data ?? []).filter((job) => job.host !== undefined);
}
