import { Eye, EyeOff } from 'lucide-react';
import { type ReactNode, useId, useState } from 'react';
import { IconButton } from './button.tsx';
import { classNames } from './class-names.ts';
import { inputClasses } from './field.tsx';

type SecretTextProps = {
  label: string;
  value: string;
  onChange: (value: string) => void;
  hint?: ReactNode;
  error?: string | undefined;
  placeholder?: string;
  autoFocus?: boolean;
  /** Lines that are there while the text is shorter. */
  lines?: number;
  className?: string;
  /** Given, Enter calls it, and Shift Enter makes a line break. */
  onEnter?: () => void;
};

/** A field for text that nobody should read over a shoulder: dots, until it is asked to show. It takes many lines. */
export function SecretText(props: SecretTextProps) {
  const { label, value, onChange, hint, error, lines = 1, onEnter } = props;
  const id = useId();
  const noteId = `${id}-note`;
  const [shown, setShown] = useState(false);
  const hasNote = error !== undefined || hint !== undefined;
  return (
    <div className={props.className}>
      <label htmlFor={id} className="mb-1 block font-medium">
        {label}
      </label>
      <div className="relative">
        <textarea
          id={id}
          rows={lines}
          style={{ minHeight: `${lines * 17 + 15}px` }}
          // biome-ignore lint/a11y/noAutofocus: the first field of a dialog
          autoFocus={props.autoFocus ?? false}
          autoComplete="off"
          autoCapitalize="off"
          autoCorrect="off"
          // A spell checker may send what it reads to a server.
          spellCheck={false}
          data-1p-ignore
          data-lpignore="true"
          aria-invalid={error !== undefined}
          {...(hasNote ? { 'aria-describedby': noteId } : {})}
          placeholder={props.placeholder}
          className={classNames(
            inputClasses,
            'block h-auto! max-h-[240px] resize-none py-[6.5px] pr-10! font-mono text-xs! leading-[17px] break-all [field-sizing:content]',
            !shown && value !== '' && '[-webkit-text-security:disc]',
          )}
          value={value}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || event.shiftKey || onEnter === undefined) return;
            event.preventDefault();
            onEnter();
          }}
          onChange={(event) => onChange(event.target.value)}
        />
        <IconButton
          label={`${shown ? 'Hide' : 'Show'} ${label.toLowerCase()}`}
          aria-pressed={shown}
          className="absolute! top-0.5 right-0.5"
          onClick={() => setShown(!shown)}
        >
          {shown ? <EyeOff /> : <Eye />}
        </IconButton>
      </div>
      {hasNote && (
        <div
          id={noteId}
          className={classNames('mt-1.5 text-xs', error === undefined ? 'text-faint' : 'text-danger-text')}
          {...(error === undefined ? {} : { role: 'alert' })}
        >
          {error ?? hint}
        </div>
      )}
    </div>
  );
}
