import { useQuery } from '@tanstack/react-query';
import { FolderGit2 } from 'lucide-react';
import { queries } from '../api/queries.ts';
import { usePanel } from '../panel-context.ts';
import { EmptyState } from '../ui/empty-state.tsx';
import { QueryState } from '../ui/query-state.tsx';
import { ScrollView, ViewHeader } from '../ui/view-header.tsx';
import { NextSteps } from './next-steps.tsx';
import { OpenForm } from './open-form.tsx';
import { ProjectRow } from './project-row.tsx';
import { useWorkspace } from './use-workspace.ts';

export function WorkspacesView() {
  const { api } = usePanel();
  // A folder can come and go without an event: a disk that is mounted, a folder that is moved.
  const projects = useQuery({ ...queries.projects(api), refetchInterval: 5000 });
  const current = useWorkspace();
  return (
    <ScrollView>
      <ViewHeader
        title="Workspaces"
        note="A workspace is a project folder in which agents may run commands."
      />
      <OpenForm />
      {current !== undefined && <NextSteps workspace={current} />}
      <h2 className="mt-8 mb-2 font-semibold">Recent</h2>
      {projects.data === undefined && <QueryState query={projects} what="workspaces" />}
      {projects.data?.length === 0 && (
        <div className="rounded-lg border border-dashed border-line-strong">
          <EmptyState icon={<FolderGit2 />} title="No workspace yet">
            Enter the path of a project folder above and open it. Nothing in the folder is changed by that.
            Then create an API key, and an agent can run commands there.
          </EmptyState>
        </div>
      )}
      {projects.data !== undefined && projects.data.length > 0 && (
        <ul className="divide-y divide-line rounded-lg border border-line" aria-label="Recent workspaces">
          {projects.data.map((project) => (
            <ProjectRow key={project.ws_id} project={project} active={project.ws_id === current?.ws_id} />
          ))}
        </ul>
      )}
    </ScrollView>
  );
}
