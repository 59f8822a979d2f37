import { useMutation, useQueryClient } from '@tanstack/react-query';
import { toast } from 'sonner';
import type { RotatedMaster } from '../../daemon/contract/secrets.ts';
import { usePanel } from '../panel-context.ts';
import { countWords } from '../ui/time-words.ts';

/** Rotates the master key, or finishes a rotation that was cut short. */
export function useRotate() {
  const { api } = usePanel();
  const cache = useQueryClient();
  return useMutation({
    mutationFn: () => api.json<RotatedMaster>('/api/secrets/rotate-master', { method: 'POST', body: {} }),
    onSuccess: ({ rotated, pending }) =>
      toast.success('The master key is rotated', {
        description:
          pending.length === 0
            ? `The secrets of ${countWords(rotated, 'workspace')} are encrypted with the new one.`
            : `The old key is kept for ${countWords(pending.length, 'workspace')} that could not be reached.`,
      }),
    onSettled: () =>
      Promise.all(
        ['master-key', 'secrets', 'audit-log'].map((kind) => cache.invalidateQueries({ queryKey: [kind] })),
      ),
  });
}
