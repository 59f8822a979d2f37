import { PathDialog } from './path-dialog.tsx';
import { useFileActions } from './use-file-actions.ts';

type NewFileDialogProps = { workspaceId: string; folder: string; open: boolean; onClose: () => void };

/** Makes an empty file in a folder that need not be there yet. */
export function NewFileDialog({ workspaceId, folder, open, onClose }: NewFileDialogProps) {
  const { create } = useFileActions(workspaceId);
  return (
    <PathDialog
      open={open}
      title="New file"
      action="Create file"
      initial={folder === '' ? '' : `${folder}/`}
      busy={create.isPending}
      error={create.error}
      onSubmit={(path) => create.mutate(path, { onSuccess: onClose })}
      onClose={() => {
        create.reset();
        onClose();
      }}
    />
  );
}
