import { useMutation, useQueryClient } from '@tanstack/react-query';
import { createElement } from 'react';
import { toast } from 'sonner';
import type { SecretListing } from '../../daemon/contract/secrets.ts';
import { ApiProblem, problemText } from '../api/problem.ts';
import { routeTo } from '../frame/route.ts';
import { usePanel } from '../panel-context.ts';
import { ConfirmDialog } from '../ui/confirm-dialog.tsx';
import { secretStorePath } from './secret-store-path.ts';

type DeleteSecretProps = { workspaceId: string; secret: SecretListing | undefined; onClose: () => void };

export function DeleteSecretDialog({ workspaceId, secret, onClose }: DeleteSecretProps) {
  const { api } = usePanel();
  const cache = useQueryClient();
  const remove = useMutation({
    mutationFn: ({ name }: SecretListing) =>
      api
        .send(`/api/secrets/${encodeURIComponent(name)}`, { method: 'DELETE', workspaceId })
        .catch((error: unknown) => {
          // Somebody else was faster: it is gone, as was wished.
          if (!(error instanceof ApiProblem) || error.code !== 'unknown_secret') throw error;
        }),
    onSuccess: (_nothing, { name }) => {
      toast.success(`${name} is deleted`, { description: receiptsLink, duration: 10_000 });
      onClose();
      return cache.invalidateQueries({ queryKey: ['secrets', workspaceId] });
    },
    onError: (error, { name }) => toast.error(`${name} was not deleted`, { description: problemText(error) }),
  });
  if (secret === undefined) return null;
  return (
    <ConfirmDialog
      open
      title={`Delete ${secret.name}?`}
      action="Delete secret"
      busy={remove.isPending}
      onConfirm={() => remove.mutate(secret)}
      onClose={onClose}
    >
      <p>Commands that are started from now on do without it. Those that run keep it until they end.</p>
      <p>The deletion has a receipt, and can be rolled back from there.</p>
    </ConfirmDialog>
  );
}

const receiptsLink = createElement(
  'a',
  {
    href: routeTo('receipts', undefined, { path: secretStorePath }),
    className: 'underline underline-offset-2',
  },
  'Roll back from its receipt',
);
