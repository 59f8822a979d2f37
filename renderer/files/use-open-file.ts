import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useSyncExternalStore } from 'react';
import { ApiProblem } from '../api/problem.ts';
import { queries } from '../api/queries.ts';
import { usePanel } from '../panel-context.ts';
import type { OpenFile } from './open-file.ts';

/** A file of the workspace as the daemon has it, and, where it is a text, what is open of it here. */
export function useOpenFile(workspaceId: string, path: string) {
  const { api, files } = usePanel();
  const query = useQuery(queries.file(api, workspaceId, path));
  const missing = query.error instanceof ApiProblem && query.error.code === 'file_not_found';
  const { data } = query;
  let file = files.get(workspaceId, path);
  // Nothing would be lost by saying plainly that it is not there.
  if (missing && file?.snapshot().dirty === false) file = undefined;
  if (file === undefined && !missing && data?.kind === 'text') file = files.open(workspaceId, path, data);
  useEffect(() => {
    const open = files.get(workspaceId, path);
    if (missing) open?.found('gone');
    else if (data !== undefined) open?.found(data);
  }, [files, workspaceId, path, data, missing]);
  return { query, file, missing };
}

export function useOpenFileState(file: OpenFile) {
  return useSyncExternalStore(file.subscribe, file.snapshot);
}

/** Has a file read again at once. */
export function useReread(workspaceId: string, path: string): () => void {
  const cache = useQueryClient();
  return () => void cache.invalidateQueries({ queryKey: ['file', workspaceId, path] });
}
