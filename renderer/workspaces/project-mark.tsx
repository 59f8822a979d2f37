import { classNames } from '../ui/class-names.ts';

/** A project's first letter in a square: enough to tell a few projects apart in a narrow place. */
export function ProjectMark({ name, small = false }: { name: string | undefined; small?: boolean }) {
  return (
    <span
      aria-hidden
      className={classNames(
        'grid shrink-0 place-items-center rounded-md font-semibold uppercase',
        small ? 'size-5 text-[11px]' : 'size-6 text-xs',
        name === undefined
          ? 'border border-dashed border-line-strong text-faint'
          : 'bg-accent-soft text-accent',
      )}
    >
      {name === undefined ? '–' : [...name][0]}
    </span>
  );
}
