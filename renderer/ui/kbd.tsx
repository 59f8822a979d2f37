import { classNames } from './class-names.ts';

export function Kbd({ children, className }: { children: string; className?: string }) {
  return (
    <kbd
      className={classNames(
        'inline-flex h-[18px] min-w-[18px] items-center justify-center rounded border border-line-strong bg-inset px-1 font-sans text-[11px] leading-none text-muted',
        className,
      )}
    >
      {children}
    </kbd>
  );
}

/** The name of the key that shortcuts are made with on this computer. */
export function commandKey(): string {
  return /mac|iphone|ipad/i.test(navigator.platform) ? '⌘' : 'Ctrl';
}
