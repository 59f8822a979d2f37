import { useMutation, useQueryClient } from '@tanstack/react-query';
import { toast } from 'sonner';
import type { KeyListing } from '../../daemon/contract/api-keys.ts';
import { problemText } from '../api/problem.ts';
import { usePanel } from '../panel-context.ts';
import { ConfirmDialog } from '../ui/confirm-dialog.tsx';

export function RevokeDialog({ apiKey, onClose }: { apiKey: KeyListing | undefined; onClose: () => void }) {
  const { api } = usePanel();
  const cache = useQueryClient();
  const revoke = useMutation({
    mutationFn: (key: KeyListing) => api.send(`/api/account/api-keys/${key.key_id}`, { method: 'DELETE' }),
    onSuccess: (_nothing, key) => {
      toast.success(`Key “${key.name}” is revoked`);
      onClose();
      return cache.invalidateQueries({ queryKey: ['keys'] });
    },
    onError: (error) => toast.error('The key was not revoked', { description: problemText(error) }),
  });
  if (apiKey === undefined) return null;
  return (
    <ConfirmDialog
      open
      title={`Revoke “${apiKey.name}”?`}
      action="Revoke key"
      busy={revoke.isPending}
      onConfirm={() => revoke.mutate(apiKey)}
      onClose={onClose}
    >
      <p>
        Whoever uses <code className="font-mono text-xs text-text">{apiKey.preview}</code> is refused from now
        on, and output they are reading ends within a second.
      </p>
      <p>This can’t be taken back. To let them in again, create a new key.</p>
    </ConfirmDialog>
  );
}
