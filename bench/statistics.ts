export interface Summary {
  median: number;
  low: number;
  high: number;
  samples: number;
}

export function summarize(values: readonly number[]): Summary {
  return {
    median: quantile(values, 0.5),
    low: Math.min(...values),
    high: Math.max(...values),
    samples: values.length,
  };
}

/** Nearest rank, 0 ≤ `q` ≤ 1; throws when there are no values: a row without samples is not a result. */
export function quantile(values: readonly number[], q: number): number {
  const sorted = Float64Array.from(values).sort();
  const rank = Math.max(1, Math.ceil(q * sorted.length));
  const value = sorted[rank - 1];
  if (value === undefined) throw new Error('no samples were taken');
  return value;
}

/** A new array in random order, so that no variant always runs first or after the same other. */
export function shuffled<T>(values: readonly T[]): T[] {
  return values
    .map((value) => ({ value, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ value }) => value);
}
