import type { ReactNode } from 'react';

/** A view's title line: its name, what it is for, and its main action. */
export function ViewHeader({ title, note, action }: { title: string; note?: ReactNode; action?: ReactNode }) {
  return (
    <header className="flex items-start gap-4 pb-5">
      <div className="min-w-0 flex-1">
        <h1 className="text-lg font-semibold tracking-tight">{title}</h1>
        {note !== undefined && <p className="mt-0.5 text-muted">{note}</p>}
      </div>
      {action}
    </header>
  );
}

/** A view that scrolls as a whole, in a column of a width that can be read. */
export function ScrollView({ children }: { children: ReactNode }) {
  return (
    <div className="h-full overflow-y-auto">
      <div className="mx-auto max-w-[920px] px-6 pt-6 pb-12">{children}</div>
    </div>
  );
}
