import { PathDialog } from './path-dialog.tsx';
import { useFileActions } from './use-file-actions.ts';

type RenameDialogProps = { workspaceId: string; path: string; open: boolean; onClose: () => void };

export function RenameDialog({ workspaceId, path, open, onClose }: RenameDialogProps) {
  const { move } = useFileActions(workspaceId);
  return (
    <PathDialog
      open={open}
      title="Rename or move"
      action="Move"
      initial={path}
      busy={move.isPending}
      error={move.error}
      onSubmit={(to) => (to === path ? onClose() : move.mutate({ from: path, to }, { onSuccess: onClose }))}
      onClose={() => {
        move.reset();
        onClose();
      }}
    />
  );
}
