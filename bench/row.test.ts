import { describe, expect, it } from 'vitest';
import { ratioTarget, target } from './row.ts';
import { quantile, shuffled, summarize } from './statistics.ts';

describe('quantile', () => {
  it('is the nearest rank, whatever the order of the samples', () => {
    const samples = [5, 1, 4, 2, 3, 10, 9, 8, 7, 6];
    expect([0, 0.5, 0.95, 1].map((q) => quantile(samples, q))).toEqual([1, 5, 10, 10]);
  });

  it('refuses to make a number out of no samples', () => {
    expect(() => quantile([], 0.5)).toThrow('no samples');
  });
});

describe('targets', () => {
  it('meets "at most" and "at least" at the limit and "below" only under it', () => {
    expect(target('', 'ms', 5, 'at most', 5).met).toBe(true);
    expect(target('', 'ms', 5, 'at least', 5).met).toBe(true);
    expect(target('', 'ms', 5, 'below', 5).met).toBe(false);
  });

  it('takes the ratio of the medians and shows the spread of the rounds', () => {
    const ratio = ratioTarget('', [2, 3, 40], [1, 2, 4], 'at most', 1.5);
    expect(ratio).toMatchObject({ value: 1.5, low: 1.5, high: 10, met: true });
  });
});

it('keeps every variant when it shuffles', () => {
  expect(shuffled([1, 2, 3, 4]).sort()).toEqual([1, 2, 3, 4]);
  expect(summarize(shuffled([3, 1, 2]))).toEqual({ median: 2, low: 1, high: 3, samples: 3 });
});
