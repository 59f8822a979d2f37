import { useQuery } from '@tanstack/react-query';
import { FolderGit2 } from 'lucide-react';
import { useEffect } from 'react';
import type { RecentProject } from '../../daemon/contract/projects.ts';
import { queries } from '../api/queries.ts';
import { goTo } from '../frame/route.ts';
import { usePanel } from '../panel-context.ts';
import { Button } from '../ui/button.tsx';
import { EmptyState } from '../ui/empty-state.tsx';
import { QueryState } from '../ui/query-state.tsx';
import { useWorkspace } from '../workspaces/use-workspace.ts';
import { useVerifyChain } from './use-verify-chain.ts';
import { WorkspaceReceipts } from './workspace-receipts.tsx';

type ReceiptsViewProps = { selected: string | null; options: URLSearchParams };

/** The receipts of the workspace that this tab looks at. */
export function ReceiptsView({ selected, options }: ReceiptsViewProps) {
  const { api } = usePanel();
  const projects = useQuery(queries.projects(api));
  const workspace = useWorkspace();
  if (workspace !== undefined)
    return <OpenReceipts key={workspace.ws_id} workspace={workspace} selected={selected} options={options} />;
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
      Receipts record what was changed in a workspace. Open one to see them.
    </EmptyState>
  );
}

type OpenReceiptsProps = ReceiptsViewProps & { workspace: RecentProject };

function OpenReceipts({ workspace, selected, options }: OpenReceiptsProps) {
  const verification = useVerifyChain(workspace.ws_id);
  const path = options.get('path') ?? '';
  const runId = options.get('run_id');
  const verify = options.get('verify') === 'chain';
  // biome-ignore lint/correctness/useExhaustiveDependencies: asked for once, by the address
  useEffect(() => {
    if (!verify) return;
    goTo('receipts', selected ?? undefined);
    verification.start();
  }, [verify]);
  return (
    <WorkspaceReceipts
      // What a link asks for is the whole filter; a verdict stays while filters change.
      key={`${runId} ${path}`}
      workspace={workspace}
      selected={selected}
      path={path}
      runId={runId}
      verification={verification}
    />
  );
}
