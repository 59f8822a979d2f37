import { useCallback, useEffect, useState } from 'react';

export type Expanded = {
  has: (folder: string) => boolean;
  set: (folder: string, open: boolean) => void;
  clear: () => void;
};

/** Which folders of the tree are open: those chosen, and those on the way to the selected file. */
export function useExpanded(selected: string | null): Expanded {
  const [folders, setFolders] = useState<ReadonlySet<string>>(new Set());
  useEffect(() => {
    if (selected !== null) setFolders((open) => new Set([...open, ...foldersAbove(selected)]));
  }, [selected]);
  const set = useCallback((folder: string, open: boolean) => {
    setFolders((before) => {
      const next = new Set(before);
      if (open) next.add(folder);
      else next.delete(folder);
      return next;
    });
  }, []);
  return { has: (folder) => folders.has(folder), set, clear: useCallback(() => setFolders(new Set()), []) };
}

function foldersAbove(path: string): string[] {
  const parts = path.split('/');
  return parts.slice(1).map((_part, index) => parts.slice(0, index + 1).join('/'));
}
