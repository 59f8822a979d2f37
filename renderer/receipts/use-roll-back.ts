import { useMutation } from '@tanstack/react-query';
import { createElement, Fragment } from 'react';
import { toast } from 'sonner';
import type { RollbackConflict, RolledBack } from '../../daemon/contract/receipts.ts';
import { ApiProblem, problemText } from '../api/problem.ts';
import { routeTo } from '../frame/route.ts';
import { usePanel } from '../panel-context.ts';
import { countWords } from '../ui/time-words.ts';

/** Undoes what a run changed; `force` leaves out what has changed since. Says so in a toast that can take it back. */
export function useRollBack(workspaceId: string) {
  const { api } = usePanel();
  const rollBack = useMutation({
    mutationFn: ({ runId, force }: { runId: string; force: boolean }) =>
      api.json<RolledBack>(`/api/agent/rollback/${runId}`, {
        method: 'POST',
        workspaceId,
        body: force ? { force: true } : {},
      }),
    onSuccess: (done) => tellOf(done, () => undo(done.rollback_run_id)),
  });
  /** For a toast's button: what stands in the way is told in a toast, too. */
  const undo = (runId: string) =>
    rollBack.mutate(
      { runId, force: false },
      {
        onError: (error) => {
          const [conflict, ...others] = conflictsIn(error);
          const detail =
            conflict === undefined
              ? problemText(error)
              : `${conflict.path} has changed since${others.length === 0 ? '' : `, and ${countWords(others.length, 'other file')}`}. Roll back from its receipt to undo the rest.`;
          toast.error('Not undone', { description: detail });
        },
      },
    );
  return { rollBack, undo };
}

/** What a refused rollback says stands in its way. */
export function conflictsIn(error: unknown): RollbackConflict[] {
  if (!(error instanceof ApiProblem) || error.code !== 'rollback_conflict') return [];
  const { conflicts } = error.members;
  return Array.isArray(conflicts) ? conflicts : [];
}

function tellOf(done: RolledBack, undo: () => void): void {
  if (done.receipt_id === null) {
    toast('Nothing was left to undo');
    return;
  }
  const changed = done.files.filter((file) => file.step !== 'unchanged').length;
  toast.success(`Rolled back ${countWords(changed, 'file')}`, {
    description: receiptLink(done.receipt_id),
    action: { label: 'Undo', onClick: undo },
    duration: 10_000,
  });
}

/** "Receipt rcpt_…", leading to it. */
export function receiptLink(receiptId: string) {
  return createElement(
    Fragment,
    null,
    'Receipt ',
    createElement(
      'a',
      { href: routeTo('receipts', receiptId), className: 'underline underline-offset-2' },
      receiptId,
    ),
  );
}
