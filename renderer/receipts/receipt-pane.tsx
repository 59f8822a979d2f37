import { useQuery } from '@tanstack/react-query';
import { Braces, ShieldCheck, Undo2 } from 'lucide-react';
import { useState } from 'react';
import type { RecentProject } from '../../daemon/contract/projects.ts';
import type { Receipt, ReceiptSummary } from '../../daemon/contract/receipts.ts';
import { queries } from '../api/queries.ts';
import { usePanel } from '../panel-context.ts';
import { Button, IconButton } from '../ui/button.tsx';
import { CopyIcon } from '../ui/copy-button.tsx';
import { ErrorBoundary } from '../ui/error-boundary.tsx';
import { QueryState } from '../ui/query-state.tsx';
import { exactTime } from '../ui/time-words.ts';
import { FileChanges } from './file-changes.tsx';
import { Cost, ExitCode, Guards } from './receipt-badges.tsx';
import { ReceiptFacts } from './receipt-facts.tsx';
import { ReceiptLinks } from './receipt-links.tsx';
import { actorWords, costWords, deedWords, guardWords } from './receipt-words.ts';
import { RollbackDialog } from './rollback-dialog.tsx';
import { RunVerification, useVerifyRun } from './run-verification.tsx';
import { useKeyNames } from './use-receipts.ts';

type ReceiptPaneProps = { workspace: RecentProject; receiptId: string; listed: ReceiptSummary[] };

/** One receipt with all it says, and what can be done with it. */
export function ReceiptPane({ workspace, receiptId, listed }: ReceiptPaneProps) {
  const { api } = usePanel();
  const query = useQuery(queries.receipt(api, workspace.ws_id, receiptId));
  return (
    <section aria-label="Receipt" className="min-h-0 min-w-0 overflow-y-auto">
      {query.data === undefined ? (
        <QueryState query={query} what="the receipt" />
      ) : (
        // A receipt that was altered may lack what any receipt has: then it is shown as it stands.
        <ErrorBoundary key={query.data.text} instead={<DamagedReceipt text={query.data.text} />}>
          {query.data.receipt === undefined ? (
            <DamagedReceipt text={query.data.text} />
          ) : (
            <ReceiptBody
              workspace={workspace}
              receipt={query.data.receipt}
              text={query.data.text}
              listed={listed}
            />
          )}
        </ErrorBoundary>
      )}
    </section>
  );
}

type ReceiptBodyProps = {
  workspace: RecentProject;
  receipt: Receipt;
  text: string;
  listed: ReceiptSummary[];
};

function ReceiptBody({ workspace, receipt, text, listed }: ReceiptBodyProps) {
  const workspaceId = workspace.ws_id;
  const [raw, setRaw] = useState(false);
  const [rollingBack, setRollingBack] = useState(false);
  const verify = useVerifyRun(workspaceId, receipt.run_id);
  const keyNames = useKeyNames();
  const title = titleOf(receipt);
  return (
    <div className="space-y-4 px-5 py-4">
      <header className="flex items-start gap-2">
        <div className="min-w-0 flex-1">
          <div className="flex items-start gap-1">
            <h2
              className={
                receipt.command === undefined
                  ? 'text-base font-semibold break-words select-text'
                  : 'font-mono text-sm leading-[22px] font-medium break-all whitespace-pre-wrap select-text'
              }
            >
              {title}
            </h2>
            {receipt.command !== undefined && (
              <span className="-my-0.5">
                <CopyIcon text={receipt.command.cmd} label="Copy command" />
              </span>
            )}
          </div>
          <div className="mt-1 flex flex-wrap items-center gap-2 text-xs text-faint tabular-nums">
            {actorWords(receipt.actor, keyNames)} · {exactTime(receipt.timestamp)}
            {receipt.command?.host !== undefined && <span>on {receipt.command.host}</span>}
            {receipt.command !== undefined && <ExitCode code={receipt.command.exit_code} />}
            {guardWords(receipt.guards).length > 0 && <Guards guards={receipt.guards} />}
            {costWords(receipt.cost) !== undefined && <Cost receipt={receipt} />}
          </div>
        </div>
        <Button small disabled={verify.isPending} onClick={() => verify.mutate()}>
          <ShieldCheck className="size-3.5" aria-hidden />
          Verify
        </Button>
        {receipt.files.length > 0 && (
          <Button small onClick={() => setRollingBack(true)}>
            <Undo2 className="size-3.5" aria-hidden />
            Roll back…
          </Button>
        )}
        <IconButton label="Raw JSON" aria-pressed={raw} onClick={() => setRaw(!raw)}>
          <Braces />
        </IconButton>
      </header>
      <RunVerification run={verify} />
      <ReceiptLinks workspaceId={workspaceId} receipt={receipt} listed={listed} />
      {raw ? (
        <RawReceipt text={text} shown={JSON.stringify(receipt, null, 2)} />
      ) : (
        <>
          <ReceiptFacts receipt={receipt} />
          {receipt.tool === 'ssh.run' && receipt.files.length === 0 ? (
            <p className="text-muted">
              This ran on {receipt.command?.host ?? 'another host'}. What it changed there is not recorded,
              and can’t be rolled back.
            </p>
          ) : (
            <FileChanges receipt={receipt} />
          )}
        </>
      )}
      <RollbackDialog
        workspaceId={workspaceId}
        runId={receipt.run_id}
        title={title.length > 60 ? `${title.slice(0, 60)}…` : title}
        open={rollingBack}
        onClose={() => setRollingBack(false)}
      />
    </div>
  );
}

function titleOf(receipt: Receipt): string {
  return receipt.command?.cmd ?? deedWords({ ...receipt, file_count: receipt.files.length });
}

/** The receipt as JSON; what is copied are the bytes as they are stored. */
function RawReceipt({ text, shown }: { text: string; shown: string }) {
  return (
    <section aria-label="Raw JSON" className="relative rounded-lg border border-line bg-inset">
      <span className="absolute top-1 right-1">
        <CopyIcon text={text} label="Copy as stored" />
      </span>
      <pre className="overflow-x-auto p-3 pr-10 font-mono text-xs leading-[18px] wrap-anywhere whitespace-pre-wrap select-text">
        {shown}
      </pre>
    </section>
  );
}

function DamagedReceipt({ text }: { text: string }) {
  return (
    <div className="space-y-3 px-5 py-4">
      <div role="alert" className="rounded-md bg-danger-soft px-3 py-2 text-danger-text">
        <h2 className="font-semibold">This is no receipt any more</h2>
        <p>It was altered on the disk. Verify the chain to see how. This is what is there:</p>
      </div>
      <RawReceipt text={text} shown={text} />
    </div>
  );
}
