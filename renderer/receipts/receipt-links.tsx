import { useQuery } from '@tanstack/react-query';
import { Split, Undo2 } from 'lucide-react';
import type { ReactNode } from 'react';
import type { Receipt, ReceiptSummary } from '../../daemon/contract/receipts.ts';
import { queries } from '../api/queries.ts';
import { routeTo } from '../frame/route.ts';
import { usePanel } from '../panel-context.ts';
import { deedWords } from './receipt-words.ts';

type ReceiptLinksProps = { workspaceId: string; receipt: Receipt; listed: ReceiptSummary[] };

/** How this receipt is related to others: what it undid, what undid it, and what ran beside it. */
export function ReceiptLinks({ workspaceId, receipt, listed }: ReceiptLinksProps) {
  const undoneBy = listed.find((one) => one.rolled_back_run_id === receipt.run_id);
  const beside = receipt.concurrent_runs ?? [];
  if (receipt.rolled_back_run_id === undefined && undoneBy === undefined && beside.length === 0) return null;
  return (
    <div className="space-y-1.5">
      {receipt.rolled_back_run_id !== undefined && (
        <Relation icon={<Undo2 />}>
          This undid <RunLink workspaceId={workspaceId} runId={receipt.rolled_back_run_id} />
        </Relation>
      )}
      {undoneBy !== undefined && (
        <Relation icon={<Undo2 />}>
          Rolled back by <RunLink workspaceId={workspaceId} runId={undoneBy.run_id} />
        </Relation>
      )}
      {beside.length > 0 && (
        <Relation icon={<Split />}>
          Other commands ran at the same time, so a change listed here may be one of theirs:{' '}
          {beside.map((runId, index) => (
            <span key={runId}>
              {index > 0 && ', '}
              <RunLink workspaceId={workspaceId} runId={runId} />
            </span>
          ))}
        </Relation>
      )}
    </div>
  );
}

function Relation({ icon, children }: { icon: ReactNode; children: ReactNode }) {
  return (
    <p className="flex items-start gap-2 rounded-md bg-inset px-3 py-2 text-muted [&>svg]:mt-0.5 [&>svg]:size-4 [&>svg]:shrink-0">
      {icon}
      <span className="min-w-0 break-words">{children}</span>
    </p>
  );
}

/** Leads to the receipt of a run; a run that changed nothing has none. */
function RunLink({ workspaceId, runId }: { workspaceId: string; runId: string }) {
  const { api } = usePanel();
  const { data } = useQuery(queries.receiptOfRun(api, workspaceId, runId));
  if (data === undefined || data === null) return <code className="font-mono text-xs">{runId}</code>;
  const line = data.command?.cmd;
  return (
    <a
      href={routeTo('receipts', data.receipt_id)}
      title={data.receipt_id}
      className={`text-accent underline-offset-2 hover:underline ${line === undefined ? '' : 'font-mono text-xs'}`}
    >
      {line ?? deedWords(data)}
    </a>
  );
}
