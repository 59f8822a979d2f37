import { ClipboardCopy, FilePlus2, FolderInput, History, Trash2 } from 'lucide-react';
import { ContextMenu } from 'radix-ui';
import { type MouseEvent, type ReactElement, type ReactNode, useState } from 'react';
import { copyText } from '../desktop-bridge.ts';
import { goTo } from '../frame/route.ts';
import { itemClasses, menuClasses } from '../ui/menu.tsx';
import { DeleteDialog } from './delete-dialog.tsx';
import { NewFileDialog } from './new-file-dialog.tsx';
import { RenameDialog } from './rename-dialog.tsx';

type Target = { path: string; folder: boolean };

/** What can be done with a row of the tree: with the right mouse button, or the keyboard's menu key. */
export function TreeMenu({ workspaceId, children }: { workspaceId: string; children: ReactElement }) {
  const [target, setTarget] = useState<Target>();
  const [dialog, setDialog] = useState<'new' | 'rename' | 'delete'>();
  const close = () => setDialog(undefined);
  const take = (event: MouseEvent) => {
    const row = event.target instanceof Element ? event.target.closest('[role=treeitem]') : null;
    // Beside the rows there is nothing to do something with.
    if (!(row instanceof HTMLElement)) event.preventDefault();
    else setTarget({ path: row.dataset.path ?? '', folder: row.ariaExpanded !== null });
  };
  return (
    <>
      <ContextMenu.Root modal={false}>
        <ContextMenu.Trigger asChild onContextMenu={take}>
          {children}
        </ContextMenu.Trigger>
        <ContextMenu.Portal>
          <ContextMenu.Content className={menuClasses} collisionPadding={8}>
            {target?.folder === true && (
              <Item icon={<FilePlus2 />} onSelect={() => setDialog('new')}>
                New file in it…
              </Item>
            )}
            <Item icon={<FolderInput />} onSelect={() => setDialog('rename')}>
              Rename or move…
            </Item>
            <Item icon={<ClipboardCopy />} onSelect={() => void copyText(target?.path ?? '')}>
              Copy path
            </Item>
            <Item
              icon={<History />}
              onSelect={() => goTo('receipts', undefined, { path: target?.path ?? '' })}
            >
              Receipts
            </Item>
            <Item icon={<Trash2 />} onSelect={() => setDialog('delete')}>
              Delete…
            </Item>
          </ContextMenu.Content>
        </ContextMenu.Portal>
      </ContextMenu.Root>
      {target !== undefined && (
        <>
          <NewFileDialog
            workspaceId={workspaceId}
            folder={target.path}
            open={dialog === 'new'}
            onClose={close}
          />
          <RenameDialog
            workspaceId={workspaceId}
            path={target.path}
            open={dialog === 'rename'}
            onClose={close}
          />
          <DeleteDialog
            workspaceId={workspaceId}
            path={target.path}
            folder={target.folder}
            open={dialog === 'delete'}
            onClose={close}
          />
        </>
      )}
    </>
  );
}

type ItemProps = { icon: ReactNode; children: string; onSelect: () => void };

function Item({ icon, children, onSelect }: ItemProps) {
  return (
    <ContextMenu.Item className={itemClasses} onSelect={onSelect}>
      {icon}
      {children}
    </ContextMenu.Item>
  );
}
