import { Search } from 'lucide-react';
import { inputClasses } from './field.tsx';

/** A field that narrows the list below it while one types. */
export function FilterField({
  className,
  label,
  value,
  onChange,
}: {
  /** Of the space it takes. */
  className: string;
  label: string;
  value: string;
  onChange: (value: string) => void;
}) {
  return (
    <div className={`relative ${className}`}>
      <Search aria-hidden className="pointer-events-none absolute top-2 left-2.5 size-4 text-faint" />
      <input
        type="search"
        aria-label={label}
        placeholder={label}
        className={`${inputClasses} pl-8!`}
        autoComplete="off"
        spellCheck={false}
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
    </div>
  );
}
