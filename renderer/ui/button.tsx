import type { ComponentProps } from 'react';
import { classNames } from './class-names.ts';

type ButtonVariant = 'primary' | 'default' | 'ghost' | 'danger';

type ButtonProps = ComponentProps<'button'> & { variant?: ButtonVariant; small?: boolean };

export function Button({
  variant = 'default',
  small = false,
  className,
  type = 'button',
  ...rest
}: ButtonProps) {
  return (
    <button
      type={type}
      className={classNames(
        'inline-flex shrink-0 items-center justify-center gap-1.5 rounded-md font-medium whitespace-nowrap select-none disabled:opacity-45',
        small ? 'h-7 px-2.5 text-xs' : 'h-8 px-3 text-sm',
        variants[variant],
        className,
      )}
      {...rest}
    />
  );
}

/** A button that shows an icon alone; `label` names it for those who don't see the icon. */
export function IconButton({
  label,
  className,
  type = 'button',
  ...rest
}: Omit<ComponentProps<'button'>, 'aria-label'> & { label: string }) {
  return (
    <button
      type={type}
      aria-label={label}
      title={label}
      className={classNames(
        'inline-grid size-7 shrink-0 place-items-center rounded-md text-muted hover:bg-hover hover:text-text aria-pressed:bg-selected aria-pressed:text-text disabled:opacity-40 [&_svg]:size-4',
        className,
      )}
      {...rest}
    />
  );
}

const variants: Record<ButtonVariant, string> = {
  primary: 'bg-accent-fill text-on-accent not-disabled:hover:bg-accent-fill-hover',
  default: 'border border-line-strong bg-raised text-text not-disabled:hover:bg-hover',
  ghost: 'text-muted not-disabled:hover:bg-hover not-disabled:hover:text-text',
  danger: 'bg-danger-fill text-white not-disabled:hover:opacity-90',
};
