import type { ReactNode } from 'react';

/** What a view shows while it has nothing: why, and what to do next. */
export function EmptyState({
  icon,
  title,
  children,
  action,
}: {
  icon: ReactNode;
  title: string;
  children: ReactNode;
  action?: ReactNode;
}) {
  return (
    <div className="mx-auto flex max-w-[420px] flex-col items-center px-6 py-14 text-center">
      <div className="mb-3 grid size-10 place-items-center rounded-lg border border-line bg-inset text-muted [&_svg]:size-5">
        {icon}
      </div>
      <h2 className="text-base font-semibold">{title}</h2>
      <div className="mt-1 text-muted">{children}</div>
      {action !== undefined && <div className="mt-4 flex gap-2">{action}</div>}
    </div>
  );
}
