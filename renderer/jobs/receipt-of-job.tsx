import { useQuery } from '@tanstack/react-query';
import { ReceiptText } from 'lucide-react';
import { queries } from '../api/queries.ts';
import { routeTo } from '../frame/route.ts';
import type { LogExit } from '../log/log-protocol.ts';
import { usePanel } from '../panel-context.ts';
import { countWords } from '../ui/time-words.ts';

/** Leads to the receipt of what a command changed. One that changed nothing here has none, unless it ran on another host. */
export function ReceiptOfJob({ exit, workspaceId }: { exit: LogExit; workspaceId: string }) {
  const { api } = usePanel();
  // The exit frame may have come before the files were compared: then the run tells, once they were.
  const { data } = useQuery({
    ...queries.receiptOfRun(api, workspaceId, exit.runId ?? ''),
    enabled: exit.receiptId === undefined && exit.runId !== null,
  });
  const receiptId = exit.receiptId ?? data?.receipt_id;
  if (receiptId === undefined) return null;
  const files = exit.receiptId === undefined ? (data?.file_count ?? 0) : exit.filesChanged;
  return (
    <a
      href={routeTo('receipts', receiptId)}
      className="flex items-center gap-1.5 whitespace-nowrap text-accent underline-offset-2 hover:underline"
    >
      <ReceiptText className="size-3.5" aria-hidden />
      {files === 0 ? 'Receipt' : `${countWords(files, 'file')} changed`}
    </a>
  );
}
