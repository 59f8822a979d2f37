import { problemText } from '../api/problem.ts';
import { ConfirmDialog } from '../ui/confirm-dialog.tsx';
import { useFileActions } from './use-file-actions.ts';

type DeleteDialogProps = {
  workspaceId: string;
  path: string;
  folder: boolean;
  open: boolean;
  onClose: () => void;
};

export function DeleteDialog({ workspaceId, path, folder, open, onClose }: DeleteDialogProps) {
  const { remove } = useFileActions(workspaceId);
  const close = () => {
    remove.reset();
    onClose();
  };
  return (
    <ConfirmDialog
      open={open}
      title={`Delete ${path.slice(path.lastIndexOf('/') + 1)}?`}
      action={folder ? 'Delete folder' : 'Delete file'}
      busy={remove.isPending}
      onConfirm={() => remove.mutate({ path, folder }, { onSuccess: close })}
      onClose={close}
    >
      <p>
        <span className="font-mono text-xs break-all text-text">{path}</span>
        {folder ? ' and everything in it is deleted.' : ' is deleted.'} The receipt keeps what it was, so that
        this can be undone.
      </p>
      {remove.isError && (
        <p role="alert" className="text-danger-text">
          Not deleted. {problemText(remove.error)}
        </p>
      )}
    </ConfirmDialog>
  );
}
