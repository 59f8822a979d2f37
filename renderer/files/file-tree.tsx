import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { TreeEntry } from '../../daemon/contract/files.ts';
import { queries } from '../api/queries.ts';
import { goTo } from '../frame/route.ts';
import { usePanel } from '../panel-context.ts';
import { Button } from '../ui/button.tsx';
import { QueryState } from '../ui/query-state.tsx';
import { moveInTree } from './move-in-tree.ts';
import { TreeMenu } from './tree-menu.tsx';
import { TreeRow } from './tree-row.tsx';
import type { Expanded } from './use-expanded.ts';

type FileTreeProps = { workspaceId: string; selected: string | null; expanded: Expanded };

/** The workspace's folders and files. A folder is read when it is opened. */
export function FileTree({ workspaceId, selected, expanded }: FileTreeProps) {
  const [focused, setFocused] = useState<string>();
  const branch = { workspaceId, selected, expanded, focused };
  return (
    <TreeMenu workspaceId={workspaceId}>
      <div
        role="tree"
        aria-label="Files"
        className="min-h-0 flex-1 overflow-y-auto px-2 pb-2"
        onFocus={({ target }) => setFocused(target.dataset.path)}
        onKeyDown={(event) => moveInTree(event, expanded.set)}
      >
        <Folder path="" level={1} branch={branch} />
      </div>
    </TreeMenu>
  );
}

type Branch = FileTreeProps & { focused: string | undefined };

function Folder({ path, level, branch }: { path: string; level: number; branch: Branch }) {
  const { api } = usePanel();
  const query = useInfiniteQuery(queries.folder(api, branch.workspaceId, path));
  const entries = query.data?.pages.flatMap((page) => page.entries);
  if (entries === undefined) {
    if (path === '' || query.error !== null)
      return <QueryState query={query} what={path === '' ? 'the files' : 'the folder'} />;
    return (
      <p role="status" className="py-1 text-xs text-faint" style={{ paddingLeft: level * 14 + 10 }}>
        Loading…
      </p>
    );
  }
  if (entries.length === 0)
    return (
      <p className="py-1 text-xs text-faint" style={{ paddingLeft: level * 14 + 10 }}>
        {path === '' ? 'The workspace is empty.' : 'Empty'}
      </p>
    );
  return (
    <>
      {entries.map((entry, index) => (
        <Node
          key={entry.path}
          entry={entry}
          level={level}
          branch={branch}
          // Until something has the focus, the tree is entered at its first row.
          entrance={level === 1 && index === 0 && branch.focused === undefined}
        />
      ))}
      {query.hasNextPage && (
        <div style={{ paddingLeft: level * 14 }}>
          <Button
            small
            variant="ghost"
            disabled={query.isFetchingNextPage}
            onClick={() => void query.fetchNextPage()}
          >
            {query.isFetchingNextPage ? 'Loading…' : 'Show more'}
          </Button>
        </div>
      )}
    </>
  );
}

type NodeProps = { entry: TreeEntry; level: number; branch: Branch; entrance: boolean };

function Node({ entry, level, branch, entrance }: NodeProps) {
  const { expanded, selected, focused } = branch;
  const folder = entry.type === 'folder';
  const open = folder && expanded.has(entry.path);
  const act = () => {
    if (folder) expanded.set(entry.path, !open);
    else if (entry.utf8 !== false) goTo('files', entry.path);
  };
  return (
    <>
      <TreeRow
        entry={entry}
        level={level}
        open={open}
        selected={entry.path === selected}
        reachable={entrance || entry.path === focused}
        workspaceId={branch.workspaceId}
        onAct={act}
      />
      {open && (
        // biome-ignore lint/a11y/useSemanticElements: a fieldset has no place in a tree
        <div role="group">
          <Folder path={entry.path} level={level + 1} branch={branch} />
        </div>
      )}
    </>
  );
}
