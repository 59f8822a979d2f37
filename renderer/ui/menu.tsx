import { DropdownMenu } from 'radix-ui';
import type { ReactNode } from 'react';

export function Menu({
  trigger,
  children,
  align = 'end',
}: {
  trigger: ReactNode;
  children: ReactNode;
  align?: 'start' | 'end';
}) {
  return (
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger asChild>{trigger}</DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content align={align} sideOffset={4} collisionPadding={8} className={menuClasses}>
          {children}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}

type MenuItemProps = {
  icon?: ReactNode;
  children: ReactNode;
  hint?: ReactNode;
  disabled?: boolean;
  onSelect: () => void;
};

export function MenuItem({ icon, children, hint, disabled = false, onSelect }: MenuItemProps) {
  return (
    <DropdownMenu.Item disabled={disabled} onSelect={onSelect} className={itemClasses}>
      {icon}
      <span className="min-w-0 flex-1 truncate">{children}</span>
      {hint}
    </DropdownMenu.Item>
  );
}

export function MenuCheck({
  checked,
  children,
  keepOpen = false,
  onChange,
}: {
  checked: boolean;
  children: ReactNode;
  /** For a menu where several are checked one after the other. */
  keepOpen?: boolean;
  onChange: (checked: boolean) => void;
}) {
  return (
    <DropdownMenu.CheckboxItem
      checked={checked}
      onCheckedChange={onChange}
      onSelect={(event) => keepOpen && event.preventDefault()}
      className={itemClasses}
    >
      <span className="min-w-0 flex-1">{children}</span>
      <DropdownMenu.ItemIndicator className="text-accent">✓</DropdownMenu.ItemIndicator>
    </DropdownMenu.CheckboxItem>
  );
}

export function MenuSeparator() {
  return <DropdownMenu.Separator className="mx-1 my-1 h-px bg-line" />;
}

export function MenuLabel({ children }: { children: ReactNode }) {
  return <DropdownMenu.Label className="px-2 pt-1.5 pb-1 text-xs text-faint">{children}</DropdownMenu.Label>;
}

/** For menus of other kinds, so that they look the same. */
export const menuClasses =
  'z-50 max-h-[60vh] min-w-[200px] animate-appear overflow-y-auto rounded-lg border border-line-strong bg-raised p-1 shadow-raised';

export const itemClasses =
  'flex min-h-7 items-center gap-2 rounded-md px-2 py-1 text-sm outline-none select-none data-disabled:opacity-40 data-highlighted:bg-selected [&>svg]:size-4 [&>svg]:shrink-0 [&>svg]:text-muted';
