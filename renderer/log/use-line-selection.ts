import { useState } from 'react';

/** Rows from `from` up to, not including, `to`. */
export type LineRange = { from: number; to: number };

export type LineSelection = {
  range: LineRange | null;
  has: (row: number) => boolean;
  /** Selects the row, or with `extend` all rows from the one picked before. */
  pick: (row: number, extend: boolean) => void;
  clear: () => void;
};

/** Whole lines picked at their numbers: unlike the browser's selection, this reaches over rows out of sight. */
export function useLineSelection(): LineSelection {
  const [picked, setPicked] = useState<{ anchor: number; head: number } | null>(null);
  const range =
    picked === null
      ? null
      : { from: Math.min(picked.anchor, picked.head), to: Math.max(picked.anchor, picked.head) + 1 };
  return {
    range,
    has: (row) => range !== null && row >= range.from && row < range.to,
    pick: (row, extend) =>
      setPicked((before) =>
        extend && before !== null ? { anchor: before.anchor, head: row } : { anchor: row, head: row },
      ),
    clear: () => setPicked(null),
  };
}
