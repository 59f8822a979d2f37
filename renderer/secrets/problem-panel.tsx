import type { ReactNode } from 'react';

type ProblemPanelProps = { icon: ReactNode; title: string; children: ReactNode; actions: ReactNode };

/** Stands in a view's place while what it shows can not be had: why, and the ways out. */
export function ProblemPanel({ icon, title, children, actions }: ProblemPanelProps) {
  return (
    <section
      role="alert"
      aria-label={title}
      className="flex gap-4 rounded-lg border border-warning/40 bg-warning-soft p-5"
    >
      <span aria-hidden className="mt-0.5 text-warning-text [&>svg]:size-5">
        {icon}
      </span>
      <div className="min-w-0 flex-1">
        <h2 className="text-base font-semibold">{title}</h2>
        <div className="mt-1 space-y-2 break-words text-muted">{children}</div>
        <div className="mt-4 flex flex-wrap gap-2">{actions}</div>
      </div>
    </section>
  );
}
