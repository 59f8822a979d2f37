/** Milliseconds since the epoch. Passed as an argument wherever time decides something, so that tests can set it. */
export type Clock = () => number;

export const systemClock: Clock = Date.now;

/** ISO 8601 in UTC with milliseconds and `Z`. */
export function timestamp(ms: number): string {
  return new Date(ms).toISOString();
}
