import { useQuery } from '@tanstack/react-query';
import { FolderGit2 } from 'lucide-react';
import { queries } from '../api/queries.ts';
import { goTo } from '../frame/route.ts';
import { usePanel } from '../panel-context.ts';
import { Button } from '../ui/button.tsx';
import { EmptyState } from '../ui/empty-state.tsx';
import { QueryState } from '../ui/query-state.tsx';
import { useWorkspace } from '../workspaces/use-workspace.ts';
import { WorkspaceSecrets } from './workspace-secrets.tsx';

/** The secrets of the workspace that this tab looks at. */
export function SecretsView({ selected }: { selected: string | null }) {
  const { api } = usePanel();
  const projects = useQuery(queries.projects(api));
  const workspace = useWorkspace();
  if (workspace !== undefined)
    return <WorkspaceSecrets key={workspace.ws_id} workspace={workspace} selected={selected} />;
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
      Each workspace has secrets of its own. Open one to see them.
    </EmptyState>
  );
}
