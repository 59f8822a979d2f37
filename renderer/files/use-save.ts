import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { toast } from 'sonner';
import type { WrittenFile } from '../../daemon/contract/files.ts';
import type { ApiClient } from '../api/client.ts';
import { ApiProblem, isOtherContent, problemText } from '../api/problem.ts';
import { usePanel } from '../panel-context.ts';
import { receiptLink, useRollBack } from '../receipts/use-roll-back.ts';
import type { OnDisk, OpenFile } from './open-file.ts';
import { fileAddress, type OpenedFile, readFile } from './read-file.ts';

/**
 * Saves an open file, if the disk still holds what was changed here; else `conflict` has what it holds instead, and
 * `overwrite` replaces exactly that.
 */
export function useSave(file: OpenFile, workspaceId: string, path: string) {
  const { api } = usePanel();
  const cache = useQueryClient();
  const { undo } = useRollBack(workspaceId);
  const [conflict, setConflict] = useState<OnDisk>();

  async function write(condition: Record<string, string>): Promise<void> {
    const { editor } = file;
    if (editor === undefined || file.snapshot().saving) return;
    const text = editor.read();
    file.saving();
    try {
      const written = await api.json<WrittenFile>(fileAddress(path), {
        method: 'PUT',
        workspaceId,
        content: new TextEncoder().encode(text),
        headers: condition,
      });
      const base = { text, etag: `"${written.etag}"` };
      const opened: OpenedFile = { kind: 'text', ...base, size: written.size };
      cache.setQueryData(['file', workspaceId, path], opened);
      file.saved(base);
      setConflict(undefined);
      tellOfSave(written, () => undo(written.run_id));
    } catch (error) {
      file.notSaved();
      if (!isOtherContent(error)) {
        toast.error('Not saved', { description: problemText(error) });
        return;
      }
      const onDisk = await readOnDisk(api, workspaceId, path);
      file.found(onDisk);
      setConflict(onDisk);
    }
  }

  const save = () => {
    const { base, newer, dirty } = file.snapshot();
    if (newer !== undefined) setConflict(newer);
    else if (dirty) void write({ 'If-Match': base.etag });
  };
  const overwrite = (onDisk: OnDisk) =>
    void write(onDisk === 'gone' ? { 'If-None-Match': '*' } : { 'If-Match': onDisk.etag });
  return { save, overwrite, conflict, setConflict };
}

function tellOfSave(written: WrittenFile, undo: () => void): void {
  if (written.receipt_id === null) return;
  toast.success('Saved', {
    id: `saved ${written.path}`,
    description: receiptLink(written.receipt_id),
    action: { label: 'Undo', onClick: undo },
  });
}

async function readOnDisk(api: ApiClient, workspaceId: string, path: string): Promise<OnDisk> {
  try {
    return await readFile(api, workspaceId, path);
  } catch (error) {
    if (error instanceof ApiProblem && error.code === 'file_not_found') return 'gone';
    throw error;
  }
}
