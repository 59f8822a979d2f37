import { ConfirmDialog } from '../ui/confirm-dialog.tsx';

type RotateDialogProps = { open: boolean; onClose: () => void; onRotate: () => void };

export function RotateDialog({ open, onClose, onRotate }: RotateDialogProps) {
  return (
    <ConfirmDialog
      open={open}
      title="Rotate the master key?"
      action="Rotate key"
      harmless
      onConfirm={onRotate}
      onClose={onClose}
    >
      <p>
        A new key is made, the secrets of every workspace are encrypted with it, and the old key is dropped.
        Your secrets stay the same, and commands that run go on.
      </p>
      <p>A recovery key that you exported before opens nothing any more: export the new one then.</p>
    </ConfirmDialog>
  );
}
