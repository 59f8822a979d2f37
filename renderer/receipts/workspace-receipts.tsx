import { useState } from 'react';
import type { RecentProject } from '../../daemon/contract/projects.ts';
import type { Tool } from '../../daemon/contract/receipts.ts';
import { goTo } from '../frame/route.ts';
import { Button } from '../ui/button.tsx';
import { QueryState } from '../ui/query-state.tsx';
import { useSettled } from '../ui/use-settled.ts';
import { ChainVerification } from './chain-verification.tsx';
import { NoReceipts } from './no-receipts.tsx';
import { ReceiptFilters } from './receipt-filters.tsx';
import { ReceiptList } from './receipt-list.tsx';
import { ReceiptPane } from './receipt-pane.tsx';
import { useReceipts, type Who } from './use-receipts.ts';

import type { ChainVerifier } from './use-verify-chain.ts';

type WorkspaceReceiptsProps = {
  workspace: RecentProject;
  selected: string | null;
  path: string;
  runId: string | null;
  verification: ChainVerifier;
};

export function WorkspaceReceipts(props: WorkspaceReceiptsProps) {
  const { workspace, selected, path: initialPath, runId, verification } = props;
  const workspaceId = workspace.ws_id;
  const [path, setPath] = useState(initialPath);
  const [tool, setTool] = useState<Tool>();
  const [who, setWho] = useState<Who>('anyone');
  const settledPath = useSettled(path.trim(), 250);
  const filter = {
    ...(settledPath === '' ? {} : { path: settledPath }),
    ...(tool === undefined ? {} : { tool }),
    ...(runId === null ? {} : { run_id: runId }),
  };
  const { query, receipts, unreadable } = useReceipts(workspaceId, filter, who);
  const filtered = Object.keys(filter).length > 0 || who !== 'anyone';
  // What is shown unasked must not change under the reader when a newer receipt comes.
  const [unasked, setUnasked] = useState<string>();
  const first = receipts?.find((one) => one.receipt_id === unasked) ?? receipts?.[0];
  if (first !== undefined && first.receipt_id !== unasked) setUnasked(first.receipt_id);
  const shown = selected ?? first?.receipt_id;
  const empty = receipts?.length === 0 && unreadable.length === 0;
  const clear = () => {
    setPath('');
    setTool(undefined);
    setWho('anyone');
    if (runId !== null || initialPath !== '') goTo('receipts', selected ?? undefined);
  };
  return (
    <div className="flex h-full flex-col">
      <h1 className="sr-only">Receipts of {workspace.name}</h1>
      <ReceiptFilters
        workspace={workspace}
        path={path}
        onPath={setPath}
        tool={tool}
        onTool={setTool}
        who={who}
        onWho={setWho}
        runId={runId}
        onAllRuns={() => goTo('receipts', selected ?? undefined)}
        verifying={verification.state.phase === 'running'}
        onVerify={verification.start}
      />
      <ChainVerification workspace={workspace} verification={verification} />
      {receipts === undefined && <QueryState query={query} what="receipts" />}
      {empty && !filtered && selected === null && <NoReceipts workspaceName={workspace.name} />}
      {receipts !== undefined && (!empty || filtered || selected !== null) && (
        <div className="grid min-h-0 flex-1 grid-cols-[260px_minmax(0,1fr)] min-[1040px]:grid-cols-[380px_minmax(0,1fr)]">
          <div className="min-h-0 border-r border-line">
            {empty && !query.hasNextPage ? (
              <NothingFound onClear={clear} />
            ) : (
              <ReceiptList
                receipts={receipts}
                unreadable={unreadable}
                selected={shown}
                more={query.hasNextPage}
                fetching={query.isFetchingNextPage}
                failed={query.isFetchNextPageError}
                onMore={() => void query.fetchNextPage()}
                onSelect={(id) =>
                  goTo('receipts', id, {
                    ...(runId === null ? {} : { run_id: runId }),
                    ...(initialPath === '' ? {} : { path: initialPath }),
                  })
                }
              />
            )}
          </div>
          {shown !== undefined && (
            <ReceiptPane key={shown} workspace={workspace} receiptId={shown} listed={receipts} />
          )}
        </div>
      )}
    </div>
  );
}

function NothingFound({ onClear }: { onClear: () => void }) {
  return (
    <div className="flex flex-col items-center gap-3 px-6 py-10 text-center text-muted">
      <p>No receipt matches these filters.</p>
      <Button small onClick={onClear}>
        Clear filters
      </Button>
    </div>
  );
}
