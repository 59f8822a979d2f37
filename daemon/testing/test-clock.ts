import type { Clock } from '../lib/clock.ts';

export interface TestClock {
  readonly clock: Clock;
  /** Sets it to a time: ISO 8601, or milliseconds since the epoch. */
  set(time: string | number): void;
  advance(ms: number): void;
}

/** A clock that stands still until the test moves it. */
export function testClock(start: string | number = '2026-03-10T12:00:00.000Z'): TestClock {
  let now = toMs(start);
  return {
    clock: () => now,
    set: (time) => {
      now = toMs(time);
    },
    advance: (ms) => {
      now += ms;
    },
  };
}

function toMs(time: string | number): number {
  return typeof time === 'number' ? time : Date.parse(time);
}
