import { AlertDialog } from 'radix-ui';
import type { ReactNode } from 'react';
import { Button } from './button.tsx';
import { useReturnFocus } from './use-return-focus.ts';

type ConfirmProps = {
  open: boolean;
  title: string;
  children: ReactNode;
  action: string;
  busy?: boolean;
  /** Nothing is lost by it: it is asked, but not in red. */
  harmless?: boolean;
  onConfirm: () => void;
  onClose: () => void;
};

/** Asks before something that can't be taken back. The safe answer has the focus. */
export function ConfirmDialog({
  open,
  title,
  children,
  action,
  busy = false,
  harmless = false,
  onConfirm,
  onClose,
}: ConfirmProps) {
  const returnFocus = useReturnFocus(open);
  return (
    <AlertDialog.Root open={open} onOpenChange={(next) => !next && onClose()}>
      <AlertDialog.Portal>
        <AlertDialog.Overlay className="fixed inset-0 z-40 animate-fade bg-overlay" />
        <AlertDialog.Content
          onCloseAutoFocus={returnFocus}
          className="fixed top-[18vh] left-1/2 z-50 w-[calc(100vw-32px)] max-w-[440px] -translate-x-1/2 animate-appear rounded-xl border border-line-strong bg-raised p-5 shadow-raised outline-none"
        >
          <AlertDialog.Title className="text-base font-semibold">{title}</AlertDialog.Title>
          <AlertDialog.Description asChild>
            <div className="mt-2 space-y-2 text-muted">{children}</div>
          </AlertDialog.Description>
          <div className="mt-5 flex justify-end gap-2">
            <AlertDialog.Cancel asChild>
              <Button>Cancel</Button>
            </AlertDialog.Cancel>
            <Button variant={harmless ? 'primary' : 'danger'} disabled={busy} onClick={onConfirm}>
              {action}
            </Button>
          </div>
        </AlertDialog.Content>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}
