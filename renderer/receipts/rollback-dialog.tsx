import { useQuery } from '@tanstack/react-query';
import { TriangleAlert } from 'lucide-react';
import { AlertDialog } from 'radix-ui';
import type { RollbackConflict, RollbackPlan } from '../../daemon/contract/receipts.ts';
import { problemText } from '../api/problem.ts';
import { queries } from '../api/queries.ts';
import { LineCount } from '../diff/line-count.tsx';
import { usePanel } from '../panel-context.ts';
import { Badge, type Tone } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { QueryState } from '../ui/query-state.tsx';
import { countWords } from '../ui/time-words.ts';
import { conflictsIn, useRollBack } from './use-roll-back.ts';

type RollbackDialogProps = {
  workspaceId: string;
  runId: string;
  title: string;
  open: boolean;
  onClose: () => void;
};

/** Shows what rolling a run back would do, and does it when told to. */
export function RollbackDialog({ workspaceId, runId, title, open, onClose }: RollbackDialogProps) {
  const { api } = usePanel();
  const preview = useQuery({ ...queries.rollbackPlan(api, workspaceId, runId), enabled: open });
  const { rollBack } = useRollBack(workspaceId);
  const refused = conflictsIn(rollBack.error);
  const close = () => {
    rollBack.reset();
    onClose();
  };
  const plan = preview.data;
  const conflicts = refused.length > 0 ? refused : (plan?.conflicts ?? []);
  const steps = plan?.files.filter((file) => file.step !== 'unchanged') ?? [];
  const inTheWay = new Set(conflicts.map((conflict) => conflict.path));
  const overwrites = steps.some((step) => inTheWay.has(step.path));
  const act = () => rollBack.mutate({ runId, force: conflicts.length > 0 }, { onSuccess: close });
  return (
    <AlertDialog.Root open={open} onOpenChange={(next) => !next && close()}>
      <AlertDialog.Portal>
        <AlertDialog.Overlay className="fixed inset-0 z-40 animate-fade bg-overlay" />
        <AlertDialog.Content className="fixed top-[10vh] left-1/2 z-50 flex max-h-[80vh] w-[calc(100vw-32px)] max-w-[600px] -translate-x-1/2 animate-appear flex-col rounded-xl border border-line-strong bg-raised shadow-raised outline-none">
          <header className="px-5 pt-4 pb-3">
            <AlertDialog.Title className="text-base font-semibold break-words">
              Roll back “{title}”?
            </AlertDialog.Title>
            <AlertDialog.Description className="mt-1 text-muted">
              Its files become what they were before. This leaves a receipt of its own, and can be undone.
            </AlertDialog.Description>
          </header>
          <div className="min-h-0 flex-1 overflow-y-auto border-t border-line">
            {plan === undefined ? (
              <QueryState query={preview} what="what would be undone" />
            ) : (
              <Plan steps={steps} conflicts={conflicts} />
            )}
          </div>
          {rollBack.isError && refused.length === 0 && (
            <p role="alert" className="px-5 pt-3 text-danger-text">
              Not rolled back. {problemText(rollBack.error)}
            </p>
          )}
          <div className="flex items-center justify-end gap-2 border-t border-line px-5 py-3">
            <AlertDialog.Cancel asChild>
              <Button>Cancel</Button>
            </AlertDialog.Cancel>
            <Button variant="danger" disabled={steps.length === 0 || rollBack.isPending} onClick={act}>
              {actionWords({ conflicts: conflicts.length, overwrites, files: steps.length })}
            </Button>
          </div>
        </AlertDialog.Content>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}

type Step = RollbackPlan['files'][number];

function actionWords(plan: { conflicts: number; overwrites: boolean; files: number }): string {
  if (plan.conflicts === 0) return `Roll back ${countWords(plan.files, 'file')}`;
  return plan.overwrites ? 'Roll back anyway' : 'Undo the rest anyway';
}

function Plan({ steps, conflicts }: { steps: Step[]; conflicts: RollbackConflict[] }) {
  // What has changed since is part of the plan, for it can be put back; what is not in it can't be.
  const planned = new Set(steps.map((step) => step.path));
  const lost = conflicts.filter((conflict) => planned.has(conflict.path));
  const left = conflicts.filter((conflict) => !planned.has(conflict.path));
  return (
    <>
      {lost.length > 0 && (
        <Conflicts
          conflicts={lost}
          title={`${countWords(lost.length, 'file')} changed since`}
          note="Rolling back anyway replaces what was written there since. That, too, can be undone."
        />
      )}
      {left.length > 0 && (
        <Conflicts
          conflicts={left}
          title={`${countWords(left.length, 'file')} can not be put back`}
          note={left.length === 1 ? 'It stays as it is.' : 'They stay as they are.'}
        />
      )}
      {steps.length === 0 ? (
        <p className="px-5 py-6 text-center text-muted">
          {conflicts.length > 0
            ? 'Nothing else is left to undo.'
            : 'Nothing is left to undo: every file is as it was before.'}
        </p>
      ) : (
        <ul aria-label="Files that are rolled back" className="divide-y divide-line">
          {steps.map((step) => (
            <li key={step.path} className="flex min-h-9 items-center gap-3 px-5 py-1.5">
              <span className="w-[62px] shrink-0">
                <Badge tone={stepTones[step.step]}>{stepWords[step.step]}</Badge>
              </span>
              <span className="min-w-0 flex-1 font-mono text-xs break-all">{step.path}</span>
              <LineCount added={step.added} removed={step.removed} />
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

type ConflictsProps = { conflicts: RollbackConflict[]; title: string; note: string };

function Conflicts({ conflicts, title, note }: ConflictsProps) {
  return (
    <section aria-label={title} className="border-b border-line bg-warning-soft px-5 py-3">
      <h3 className="flex items-center gap-2 font-medium text-warning-text">
        <TriangleAlert className="size-4 shrink-0" aria-hidden />
        {title}
      </h3>
      <p className="mt-0.5 text-muted">{note}</p>
      <ul className="mt-2 space-y-1.5">
        {conflicts.map((conflict) => (
          <li key={`${conflict.path} ${conflict.reason}`}>
            <span className="font-mono text-xs break-all">{conflict.path}</span>
            <span className="block text-xs text-muted">
              {conflict.detail || reasonWords[conflict.reason]}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

const stepWords: Record<Step['step'], string> = {
  restore: 'Restore',
  create: 'Create',
  delete: 'Delete',
  unchanged: 'Keep',
};
const stepTones: Record<Step['step'], Tone> = {
  restore: 'accent',
  create: 'success',
  delete: 'danger',
  unchanged: 'neutral',
};

const reasonWords: Record<RollbackConflict['reason'], string> = {
  changed_since: 'It has changed since.',
  not_kept: 'What it was before is not kept.',
  snapshot_pruned: 'What it was before is no longer kept.',
  path_blocked: 'Something else is in its place.',
};
