import type { ReactNode } from 'react';
import { classNames } from './class-names.ts';

export type Tone = 'neutral' | 'accent' | 'success' | 'warning' | 'danger';

export function Badge({ tone = 'neutral', children }: { tone?: Tone; children: ReactNode }) {
  return (
    <span
      className={classNames(
        'inline-flex h-5 items-center gap-1 rounded px-1.5 text-xs font-medium whitespace-nowrap tabular-nums [&_svg]:size-3',
        tones[tone],
      )}
    >
      {children}
    </span>
  );
}

const tones: Record<Tone, string> = {
  neutral: 'bg-selected text-muted',
  accent: 'bg-accent-soft text-accent',
  success: 'bg-success-soft text-success-text',
  warning: 'bg-warning-soft text-warning-text',
  danger: 'bg-danger-soft text-danger-text',
};
