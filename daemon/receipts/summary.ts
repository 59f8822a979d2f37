import { type FileDiff, maxSummaryFiles, type Receipt, type ReceiptSummary } from '../contract/receipts.ts';

/** A receipt as it is listed. Of a file without hunks (binary, or too large a diff) no lines are counted. */
export function summarize({ diffs, files, ...shared }: Receipt): ReceiptSummary {
  const counts = new Map(diffs.map((diff) => [diff.path, countLines(diff)]));
  const total = { added: 0, removed: 0 };
  for (const { added, removed } of counts.values()) {
    total.added += added;
    total.removed += removed;
  }
  return {
    ...shared,
    ...total,
    file_count: files.length,
    files: files
      .slice(0, maxSummaryFiles)
      .map((file) => ({ ...file, ...(counts.get(file.path) ?? { added: 0, removed: 0 }) })),
  };
}

function countLines({ hunks }: FileDiff): { added: number; removed: number } {
  let added = 0;
  let removed = 0;
  for (const { lines } of hunks)
    for (const line of lines) {
      if (line.startsWith('+')) added += 1;
      else if (line.startsWith('-')) removed += 1;
    }
  return { added, removed };
}
