import { useQueryClient } from '@tanstack/react-query';
import { FilePlus2, FileText, ListCollapse, RefreshCw, Search } from 'lucide-react';
import { useState } from 'react';
import type { RecentProject } from '../../daemon/contract/projects.ts';
import { goTo } from '../frame/route.ts';
import { IconButton } from '../ui/button.tsx';
import { EmptyState } from '../ui/empty-state.tsx';
import { inputClasses } from '../ui/field.tsx';
import { useSettled } from '../ui/use-settled.ts';
import { FilePane } from './file-pane.tsx';
import { FileTree } from './file-tree.tsx';
import { NewFileDialog } from './new-file-dialog.tsx';
import { SearchResults } from './search-results.tsx';
import { useExpanded } from './use-expanded.ts';

type WorkspaceFilesProps = {
  workspace: RecentProject;
  selected: string | null;
  line: number | undefined;
  creating: boolean;
};

/** The tree, or what a search found, and beside it the file. */
export function WorkspaceFiles({ workspace, selected, line, creating }: WorkspaceFilesProps) {
  const workspaceId = workspace.ws_id;
  const cache = useQueryClient();
  const [text, setText] = useState('');
  const wanted = useSettled(text, 300);
  const expanded = useExpanded(selected);
  const folder = selected?.includes('/') ? selected.slice(0, selected.lastIndexOf('/')) : '';
  const searching = text.trim() !== '';
  return (
    <div className="grid h-full grid-cols-[220px_minmax(0,1fr)] min-[1040px]:grid-cols-[290px_minmax(0,1fr)]">
      <h1 className="sr-only">Files of {workspace.name}</h1>
      <div className="flex min-h-0 flex-col border-r border-line">
        <div className="flex items-center gap-1 p-2">
          <div className="relative min-w-0 flex-1">
            <Search aria-hidden className="pointer-events-none absolute top-1.5 left-2 size-4 text-faint" />
            <input
              type="search"
              aria-label="Search in files"
              placeholder="Search…"
              className={`${inputClasses} h-7! pl-7! text-xs!`}
              autoComplete="off"
              spellCheck={false}
              value={text}
              onChange={(event) => setText(event.target.value)}
            />
          </div>
          <IconButton label="New file" onClick={() => goTo('files', selected ?? undefined, { new: 'file' })}>
            <FilePlus2 />
          </IconButton>
          <IconButton
            label="Read the folders again"
            onClick={() => void cache.invalidateQueries({ queryKey: ['folder', workspaceId] })}
          >
            <RefreshCw />
          </IconButton>
          <IconButton label="Close all folders" onClick={expanded.clear}>
            <ListCollapse />
          </IconButton>
        </div>
        {searching ? (
          <SearchResults
            workspaceId={workspaceId}
            text={wanted}
            typing={wanted !== text}
            selected={selected}
          />
        ) : (
          <FileTree workspaceId={workspaceId} selected={selected} expanded={expanded} />
        )}
      </div>
      {selected === null ? (
        <EmptyState icon={<FileText />} title="No file is open">
          Choose one from the tree. What you save here is written through the daemon and leaves a receipt, as
          any change by an agent does.
        </EmptyState>
      ) : (
        <FilePane key={selected} workspace={workspace} path={selected} line={line} />
      )}
      <NewFileDialog
        workspaceId={workspaceId}
        folder={folder}
        open={creating}
        onClose={() => {
          // A file that was just made is where the view has gone already.
          if (new URLSearchParams(location.hash.split('?')[1]).has('new'))
            goTo('files', selected ?? undefined);
        }}
      />
    </div>
  );
}
