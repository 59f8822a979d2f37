import { hash, randomBytes } from 'node:crypto';
import { CodedError } from '../contract/errors.ts';
import type { Clock } from '../lib/clock.ts';

const lifetimeMs = 5 * 60 * 1000;

/** One-time tokens that sign a person in: 256 random bits, five minutes, one use. They live in memory alone. */
export class LoginTokens {
  readonly #expiryByHash = new Map<string, number>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  mint(): string {
    const token = randomBytes(32).toString('base64url');
    const now = this.#clock();
    for (const [hashed, expiry] of this.#expiryByHash) if (now >= expiry) this.#expiryByHash.delete(hashed);
    this.#expiryByHash.set(hash('sha256', token, 'hex'), now + lifetimeMs);
    return token;
  }

  /** Uses the token up. @throws CodedError invalid_login_token */
  redeem(token: string): void {
    const hashed = hash('sha256', token, 'hex');
    const expiry = this.#expiryByHash.get(hashed);
    this.#expiryByHash.delete(hashed);
    if (expiry === undefined || this.#clock() >= expiry)
      throw new CodedError(
        'invalid_login_token',
        'This sign-in link was used already or is older than five minutes; get a new one.',
      );
  }
}
