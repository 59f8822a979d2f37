import { classNames } from './class-names.ts';

type RadioCardProps = { name: string; checked: boolean; title: string; note?: string; onChange: () => void };

/** One choice of a group, as a box with an explanation. Without one it is a plain segment. */
export function RadioCard({ name, checked, title, note, onChange }: RadioCardProps) {
  return (
    <label
      className={classNames(
        'relative flex gap-2.5 rounded-md border px-3 has-focus-visible:outline-2 has-focus-visible:outline-offset-1 has-focus-visible:outline-accent',
        note === undefined ? 'h-8 items-center justify-center' : 'items-start py-2',
        checked ? 'border-accent bg-accent-soft' : 'border-line-strong hover:bg-hover',
      )}
    >
      <input
        type="radio"
        name={name}
        checked={checked}
        onChange={onChange}
        className={note === undefined ? 'absolute inset-0 appearance-none outline-none' : radioClasses}
      />
      <span className="min-w-0">
        <span className="block font-medium">{title}</span>
        {note !== undefined && <span className="block text-xs text-muted">{note}</span>}
      </span>
    </label>
  );
}

const radioClasses =
  'mt-0.5 size-3.5 shrink-0 appearance-none rounded-full border border-line-strong bg-surface outline-none checked:border-[4.5px] checked:border-accent';
