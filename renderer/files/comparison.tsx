import { structuredPatch } from 'diff';
import { useMemo } from 'react';
import type { Hunk } from '../../daemon/contract/receipts.ts';
import { DiffView } from '../diff/diff-view.tsx';

/** What saving would change, from the text on disk to the one in the editor. */
export default function Comparison({ before, after }: { before: string; after: string }) {
  const hunks = useMemo(() => compare(before, after), [before, after]);
  if (hunks === undefined)
    return <p className="text-muted">They differ too much to be compared line by line.</p>;
  if (hunks.length === 0) return <p className="text-muted">Both are the same.</p>;
  return (
    <div>
      <p className="mb-1.5 text-xs text-faint">From the file on disk (−) to yours (+)</p>
      <div className="max-h-[46vh] overflow-y-auto rounded-lg border border-line">
        <DiffView hunks={hunks} label="Your changes against the file on disk" />
      </div>
    </div>
  );
}

function compare(before: string, after: string): Hunk[] | undefined {
  // Two texts without a common line would keep the page busy for minutes.
  const patch = structuredPatch('', '', before, after, undefined, undefined, { context: 3, timeout: 2000 });
  return patch?.hunks.map((hunk) => ({
    old_start: hunk.oldStart,
    old_lines: hunk.oldLines,
    new_start: hunk.newStart,
    new_lines: hunk.newLines,
    lines: hunk.lines,
  }));
}
