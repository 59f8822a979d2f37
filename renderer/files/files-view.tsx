import { useQuery } from '@tanstack/react-query';
import { FolderGit2 } from 'lucide-react';
import { queries } from '../api/queries.ts';
import { goTo } from '../frame/route.ts';
import { usePanel } from '../panel-context.ts';
import { Button } from '../ui/button.tsx';
import { EmptyState } from '../ui/empty-state.tsx';
import { QueryState } from '../ui/query-state.tsx';
import { useWorkspace } from '../workspaces/use-workspace.ts';
import { WorkspaceFiles } from './workspace-files.tsx';

type FilesViewProps = { selected: string | null; options: URLSearchParams };

/** The files of the workspace that this tab looks at. */
export function FilesView({ selected, options }: FilesViewProps) {
  const { api } = usePanel();
  const projects = useQuery(queries.projects(api));
  const workspace = useWorkspace();
  const line = Number(options.get('line'));
  if (workspace !== undefined)
    return (
      <WorkspaceFiles
        key={workspace.ws_id}
        workspace={workspace}
        selected={selected}
        line={line > 0 ? line : undefined}
        creating={options.get('new') === 'file'}
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
      Open a workspace to see and edit its files. Every change you save leaves a receipt.
    </EmptyState>
  );
}
