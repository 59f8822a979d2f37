import { describe, expect, it } from 'vitest';
import { keepAliveOf } from './keep-alive.ts';

describe('the keep-alive settings', () => {
  it.each([
    [15_000, 3],
    [1_000, 1],
    [200, 3],
    [7, 2],
    [60_000, 10],
  ])('have ssh2 give up at interval %i × count %i, having sent a message at least', (interval, count) => {
    const { keepaliveInterval = 0, keepaliveCountMax = 0 } = keepAliveOf({
      serverAliveIntervalMs: interval,
      serverAliveCountMax: count,
    });
    // ssh2 sends a message each interval, and gives up in place of the one after the last.
    const givesUpMs = keepaliveInterval * (keepaliveCountMax + 1);
    expect(keepaliveCountMax).toBeGreaterThan(0);
    expect(givesUpMs).toBeLessThanOrEqual(interval * count);
    expect(givesUpMs).toBeGreaterThan(interval * count - count - 1);
  });

  it('send none at an interval of 0, and never give up at a count of 0', () => {
    expect(keepAliveOf({ serverAliveIntervalMs: 0, serverAliveCountMax: 3 })).toEqual({});
    const { keepaliveInterval, keepaliveCountMax } = keepAliveOf({
      serverAliveIntervalMs: 10,
      serverAliveCountMax: 0,
    });
    expect(keepaliveInterval).toBe(10);
    expect(keepaliveCountMax).toBeGreaterThan(1e12);
  });
});
