import { Check, Minus } from 'lucide-react';

type CheckBoxProps = {
  checked: boolean;
  /** Some of what it stands for is checked. */
  mixed?: boolean;
  disabled?: boolean;
  label: string;
  id?: string;
  onChange: () => void;
};

export function CheckBox({ checked, mixed = false, disabled = false, label, id, onChange }: CheckBoxProps) {
  const Mark = mixed ? Minus : Check;
  return (
    <span className="relative grid size-4 shrink-0 place-items-center">
      <input
        type="checkbox"
        id={id}
        aria-label={label}
        ref={(input) => {
          if (input !== null) input.indeterminate = mixed;
        }}
        checked={checked}
        disabled={disabled}
        onChange={onChange}
        className="peer absolute inset-0 appearance-none rounded border border-line-strong bg-surface checked:border-accent-fill checked:bg-accent-fill indeterminate:border-accent-fill indeterminate:bg-accent-fill disabled:opacity-45"
      />
      {(checked || mixed) && (
        <Mark aria-hidden className="pointer-events-none relative size-3 text-on-accent" strokeWidth={3} />
      )}
    </span>
  );
}
