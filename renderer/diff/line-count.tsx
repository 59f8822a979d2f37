import { countWords } from '../ui/time-words.ts';

/** "+12 −3", aligned in figures of one width; what is zero is left out. */
export function LineCount({ added, removed }: { added: number; removed: number }) {
  if (added === 0 && removed === 0) return null;
  return (
    <span className="inline-flex gap-1.5 font-mono text-[11px] whitespace-nowrap tabular-nums">
      {added > 0 && (
        <span className="text-success-text">
          <span aria-hidden>+{added.toLocaleString('en')}</span>
          <span className="sr-only">{countWords(added, 'line')} added</span>
        </span>
      )}
      {removed > 0 && (
        <span className="text-danger-text">
          <span aria-hidden>−{removed.toLocaleString('en')}</span>
          <span className="sr-only">{countWords(removed, 'line')} removed</span>
        </span>
      )}
    </span>
  );
}
