import { useQueryClient } from '@tanstack/react-query';
import { createElement, Fragment, type ReactNode } from 'react';
import { toast } from 'sonner';
import { problemText } from '../api/problem.ts';
import { queries } from '../api/queries.ts';
import { usePanel } from '../panel-context.ts';
import { receiptLink, useRollBack } from '../receipts/use-roll-back.ts';

type SecretChange = { title: string; receiptId: string | null; warning?: string | undefined };

/** Says in a toast what was changed: with a warning where there is one, its receipt, and a way back. */
export function useTellOfChange(workspaceId: string): (change: SecretChange) => void {
  const { api } = usePanel();
  const cache = useQueryClient();
  const { undo } = useRollBack(workspaceId);
  const undoReceipt = async (receiptId: string) => {
    const { receipt } = await cache.fetchQuery(queries.receipt(api, workspaceId, receiptId));
    if (receipt === undefined) throw new Error('Its receipt can not be read.');
    undo(receipt.run_id);
  };
  return ({ title, receiptId, warning }) => {
    const tell = warning === undefined ? toast.success : toast.warning;
    const action = receiptId !== null && {
      label: 'Undo',
      onClick: () =>
        void undoReceipt(receiptId).catch((error: unknown) =>
          toast.error('Not undone', { description: problemText(error) }),
        ),
    };
    tell(title, {
      description: described(warning, receiptId),
      ...(action === false ? {} : { action }),
      duration: 10_000,
    });
  };
}

function described(warning: string | undefined, receiptId: string | null): ReactNode {
  return createElement(
    Fragment,
    null,
    warning !== undefined && createElement('span', { className: 'block' }, warning),
    receiptId !== null && receiptLink(receiptId),
  );
}
