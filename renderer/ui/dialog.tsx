import { X } from 'lucide-react';
import { Dialog as RadixDialog } from 'radix-ui';
import type { ReactNode } from 'react';
import { IconButton } from './button.tsx';
import { useReturnFocus } from './use-return-focus.ts';

type DialogProps = {
  open: boolean;
  onClose: () => void;
  title: string;
  description?: ReactNode;
  children: ReactNode;
  /** Only the dialog's own buttons close it. */
  insistent?: boolean;
  wide?: boolean;
};

export function Dialog({
  open,
  onClose,
  title,
  description,
  children,
  insistent = false,
  wide = false,
}: DialogProps) {
  const keepOpen = (event: Event) => {
    if (insistent) event.preventDefault();
  };
  const returnFocus = useReturnFocus(open);
  return (
    <RadixDialog.Root open={open} onOpenChange={(next) => !next && onClose()}>
      <RadixDialog.Portal>
        <RadixDialog.Overlay className="fixed inset-0 z-40 animate-fade bg-overlay" />
        <div className="pointer-events-none fixed inset-0 z-50 grid place-items-start justify-center overflow-y-auto p-4 pt-[10vh]">
          <RadixDialog.Content
            {...(description === undefined ? { 'aria-describedby': undefined } : {})}
            onCloseAutoFocus={returnFocus}
            onEscapeKeyDown={keepOpen}
            onPointerDownOutside={keepOpen}
            onInteractOutside={keepOpen}
            className={`pointer-events-auto w-[calc(100vw-32px)] animate-appear rounded-xl border border-line-strong bg-raised shadow-raised outline-none ${wide ? 'max-w-[600px]' : 'max-w-[460px]'}`}
          >
            <header className="flex items-start gap-3 px-5 pt-4 pb-1">
              <div className="min-w-0 flex-1">
                <RadixDialog.Title className="text-base font-semibold">{title}</RadixDialog.Title>
                {description !== undefined && (
                  <RadixDialog.Description className="mt-1 text-muted" asChild>
                    <div>{description}</div>
                  </RadixDialog.Description>
                )}
              </div>
              {!insistent && (
                <RadixDialog.Close asChild>
                  <IconButton label="Close" className="-mr-2">
                    <X />
                  </IconButton>
                </RadixDialog.Close>
              )}
            </header>
            <div className="px-5 pt-3 pb-5">{children}</div>
          </RadixDialog.Content>
        </div>
      </RadixDialog.Portal>
    </RadixDialog.Root>
  );
}

/** The row of buttons at a dialog's end, the one that goes on last. */
export function DialogActions({ children }: { children: ReactNode }) {
  return <div className="mt-5 flex justify-end gap-2">{children}</div>;
}
