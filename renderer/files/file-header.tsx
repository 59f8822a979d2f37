import { Ellipsis, FolderInput, History, Trash2 } from 'lucide-react';
import { Fragment, type ReactNode, useState } from 'react';
import type { RecentProject } from '../../daemon/contract/projects.ts';
import { routeTo } from '../frame/route.ts';
import { IconButton } from '../ui/button.tsx';
import { CopyIcon } from '../ui/copy-button.tsx';
import { Menu, MenuItem } from '../ui/menu.tsx';
import { DeleteDialog } from './delete-dialog.tsx';
import { RenameDialog } from './rename-dialog.tsx';

type FileHeaderProps = {
  workspace: RecentProject;
  path: string;
  dirty?: boolean;
  /** Whether there is a file, so that it can be renamed and deleted. */
  present: boolean;
  children?: ReactNode;
};

/** Where the file is, whether it has unsaved changes, and what can be done with it. */
export function FileHeader({ workspace, path, dirty = false, present, children }: FileHeaderProps) {
  const [renaming, setRenaming] = useState(false);
  const [deleting, setDeleting] = useState(false);
  const parts = path.split('/');
  return (
    <header className="flex min-h-11 shrink-0 items-center gap-2 px-4 py-1.5">
      <h2 className="min-w-0 truncate font-mono text-xs select-text" title={path}>
        {parts.map((part, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a part is known by its place
          <Fragment key={index}>
            {index > 0 && <span className="text-faint"> / </span>}
            <span className={index === parts.length - 1 ? 'font-medium' : 'text-muted'}>{part}</span>
          </Fragment>
        ))}
      </h2>
      <CopyIcon text={path} label="Copy path" />
      {dirty && (
        <span className="flex items-center gap-1.5 text-xs whitespace-nowrap text-muted">
          <span aria-hidden className="size-2 rounded-full bg-accent" />
          Unsaved
        </span>
      )}
      <span className="ml-auto flex items-center gap-2">
        {children}
        <a
          href={routeTo('receipts', undefined, { path })}
          title="Receipts of this file"
          aria-label="Receipts of this file"
          className="inline-grid size-7 place-items-center rounded-md text-muted hover:bg-hover hover:text-text"
        >
          <History className="size-4" aria-hidden />
        </a>
        <Menu
          trigger={
            <IconButton label="File actions" disabled={!present}>
              <Ellipsis />
            </IconButton>
          }
        >
          <MenuItem icon={<FolderInput />} onSelect={() => setRenaming(true)}>
            Rename or move…
          </MenuItem>
          <MenuItem icon={<Trash2 />} onSelect={() => setDeleting(true)}>
            Delete…
          </MenuItem>
        </Menu>
      </span>
      <RenameDialog
        workspaceId={workspace.ws_id}
        path={path}
        open={renaming}
        onClose={() => setRenaming(false)}
      />
      <DeleteDialog
        workspaceId={workspace.ws_id}
        path={path}
        folder={false}
        open={deleting}
        onClose={() => setDeleting(false)}
      />
    </header>
  );
}
