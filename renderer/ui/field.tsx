import { type ComponentProps, type ReactNode, useId } from 'react';
import { classNames } from './class-names.ts';

export type FieldProps = ComponentProps<'input'> & {
  label: string;
  hideLabel?: boolean;
  hint?: ReactNode;
  error?: string | undefined;
  inputClassName?: string;
};

/** A labelled text field; what is wrong with its value stands below it and is read out with it. */
export function Field({
  label,
  hideLabel = false,
  hint,
  error,
  className,
  inputClassName,
  ...input
}: FieldProps) {
  const id = useId();
  const noteId = `${id}-note`;
  const hasNote = error !== undefined || hint !== undefined;
  return (
    <div className={className}>
      <label htmlFor={id} className={hideLabel ? 'sr-only' : 'mb-1 block font-medium'}>
        {label}
      </label>
      <input
        id={id}
        aria-invalid={error !== undefined}
        {...(hasNote ? { 'aria-describedby': noteId } : {})}
        className={classNames(inputClasses, inputClassName)}
        {...input}
      />
      {hasNote && (
        <p
          id={noteId}
          className={classNames('mt-1.5 text-xs', error === undefined ? 'text-faint' : 'text-danger-text')}
          {...(error === undefined ? {} : { role: 'alert' })}
        >
          {error ?? hint}
        </p>
      )}
    </div>
  );
}

export const inputClasses =
  'h-8 w-full rounded-md border border-line-strong bg-surface px-2.5 text-sm text-text outline-none focus-visible:border-accent focus-visible:ring-2 focus-visible:ring-accent-soft aria-invalid:border-danger';
