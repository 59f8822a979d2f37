import { useMutation } from '@tanstack/react-query';
import { ShieldCheck, ShieldX } from 'lucide-react';
import type { RunVerdict } from '../../daemon/contract/receipts.ts';
import { problemText } from '../api/problem.ts';
import { routeTo } from '../frame/route.ts';
import { usePanel } from '../panel-context.ts';
import { countWords } from '../ui/time-words.ts';

/** Verifies the receipts of one run. */
export function useVerifyRun(workspaceId: string, runId: string) {
  const { api } = usePanel();
  return useMutation({
    mutationFn: () => api.json<RunVerdict>(`/api/receipts/${runId}/verify`, { method: 'POST', workspaceId }),
  });
}

/** What the verification of one run found. */
export function RunVerification({ run }: { run: ReturnType<typeof useVerifyRun> }) {
  if (run.isError)
    return (
      <p role="alert" className="rounded-md bg-inset px-3 py-2 text-muted">
        Not verified. {problemText(run.error)}
      </p>
    );
  if (run.data === undefined) return null;
  const { valid, checked, mismatch, detail, receipt_id } = run.data;
  if (valid)
    return (
      <p
        role="status"
        className="flex items-center gap-2 rounded-md bg-success-soft px-3 py-2 text-success-text"
      >
        <ShieldCheck className="size-4 shrink-0" aria-hidden />
        Intact: {countWords(checked, 'receipt')} of this run verified
      </p>
    );
  return (
    <div
      role="alert"
      className="flex items-start gap-2 rounded-md bg-danger-soft px-3 py-2 text-danger-text select-text"
    >
      <ShieldX className="mt-0.5 size-4 shrink-0" aria-hidden />
      <p className="min-w-0 break-words">
        <strong className="font-semibold">
          Tampering found: field {mismatch ?? 'unknown'}
          {receipt_id !== null && (
            <>
              {' of receipt '}
              <a className="underline underline-offset-2" href={routeTo('receipts', receipt_id)}>
                {receipt_id}
              </a>
            </>
          )}
        </strong>
        {detail !== null && <span className="block">{detail}</span>}
      </p>
    </div>
  );
}
