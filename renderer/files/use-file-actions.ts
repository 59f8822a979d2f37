import { useMutation, useQueryClient } from '@tanstack/react-query';
import { toast } from 'sonner';
import type { DeletedFile, MovedFile, WrittenFile } from '../../daemon/contract/files.ts';
import { goTo, parseRoute } from '../frame/route.ts';
import { usePanel } from '../panel-context.ts';
import { receiptLink, useRollBack } from '../receipts/use-roll-back.ts';
import { fileAddress } from './read-file.ts';

/** Makes, renames and deletes files; each leaves a receipt and can be undone from the toast that tells of it. */
export function useFileActions(workspaceId: string) {
  const { api, files } = usePanel();
  const cache = useQueryClient();
  const { undo } = useRollBack(workspaceId);
  const tell = (words: string, done: WrittenFile | MovedFile | DeletedFile) => {
    void cache.invalidateQueries({ queryKey: ['folder', workspaceId] });
    if (done.receipt_id === null) return;
    toast.success(words, {
      description: receiptLink(done.receipt_id),
      action: { label: 'Undo', onClick: () => undo(done.run_id) },
      duration: 8000,
    });
  };

  const create = useMutation({
    mutationFn: (path: string) =>
      api.json<WrittenFile>(fileAddress(path), {
        method: 'PUT',
        workspaceId,
        content: '',
        headers: { 'If-None-Match': '*' },
      }),
    onSuccess: (done, path) => {
      tell('Created', done);
      goTo('files', path);
    },
  });

  const move = useMutation({
    mutationFn: ({ from, to }: { from: string; to: string }) =>
      api.json<MovedFile>('/api/project/move', { method: 'POST', workspaceId, body: { from, to } }),
    onSuccess: (done, { from, to }) => {
      files.rename(workspaceId, from, to);
      tell('Moved', done);
      const shown = selectedFile();
      if (shown !== null && isAtOrIn(shown, from)) goTo('files', to + shown.slice(from.length));
    },
  });

  const remove = useMutation({
    mutationFn: ({ path, folder }: { path: string; folder: boolean }) =>
      api.json<DeletedFile>(`${fileAddress(path)}${folder ? '&recursive=true' : ''}`, {
        method: 'DELETE',
        workspaceId,
      }),
    onSuccess: (done, { path }) => {
      files.close(workspaceId, path);
      tell('Deleted', done);
      const shown = selectedFile();
      if (shown !== null && isAtOrIn(shown, path)) goTo('files');
    },
  });
  return { create, move, remove };
}

function selectedFile(): string | null {
  const { view, selected } = parseRoute(location.hash);
  return view === 'files' ? selected : null;
}

function isAtOrIn(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}
