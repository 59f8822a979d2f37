import { CodedError } from '../contract/errors.ts';
import type { KeyId } from '../contract/ids.ts';
import type { Clock } from '../lib/clock.ts';

const minuteMs = 60_000;

export interface RateLimit {
  readonly limit: number;
  readonly remaining: number;
  /** Seconds to the boundary of the minute, at least 1. */
  readonly resetSeconds: number;
}

/**
 * Requests per key in a fixed window that begins on the minute of the wall clock. One small object per key that was used
 * in this minute; all of them are dropped when the minute turns.
 */
export class RateLimiter {
  #minute = -1;
  #used = new Map<KeyId, number>();
  readonly #limit: number;
  readonly #clock: Clock;

  constructor(limit: number, clock: Clock) {
    this.#limit = limit;
    this.#clock = clock;
  }

  /** Counts one request; `allowed` is false for those over the limit. */
  take(keyId: KeyId): RateLimit & { readonly allowed: boolean } {
    const now = this.#clock();
    const minute = Math.floor(now / minuteMs);
    if (minute !== this.#minute) {
      this.#minute = minute;
      this.#used.clear();
    }
    const used = this.#used.get(keyId) ?? 0;
    const allowed = used < this.#limit;
    if (allowed) this.#used.set(keyId, used + 1);
    return {
      allowed,
      limit: this.#limit,
      remaining: allowed ? this.#limit - used - 1 : 0,
      resetSeconds: Math.ceil(((minute + 1) * minuteMs - now) / 1000),
    };
  }
}

export function rateLimited(rate: RateLimit): CodedError {
  return new CodedError('rate_limited', `This key has used its ${rate.limit} requests of this minute.`, {
    members: { retry_after: rate.resetSeconds },
  });
}
