import type { Clock } from '../../lib/clock.ts';
import type { HostTrust } from '../host-keys/host-trust.ts';
import type { CertificateExchange } from './certificate-exchange.ts';
import type { SignInAttempt } from './sign-in-attempt.ts';

export interface HostVerifierOptions {
  readonly trust: HostTrust;
  readonly attempt: SignInAttempt;
  readonly clock: Clock;
  /** Called with a copy of a key that the user may accept. */
  readonly onUnknownKey: (key: Buffer) => void;
}

/** Answers ssh2 whether the host is the one it should be, at the first key exchange and at every one that follows. */
export class HostVerifier {
  /** Set where certificates are offered. */
  certificates: CertificateExchange | undefined;
  readonly #options: HostVerifierOptions;
  #key: Buffer | undefined;

  constructor(options: HostVerifierOptions) {
    this.#options = options;
  }

  get trustedKey(): Buffer {
    if (this.#key === undefined)
      throw new Error('ssh2 signed in without asking for the host key to be verified');
    return this.#key;
  }

  verify(offered: Buffer): boolean {
    const { trust, attempt, clock, onUnknownKey } = this.#options;
    try {
      const verdict = trust.judge(offered, clock());
      const key = Buffer.from(verdict.key); // a copy: it may lie in a buffer of the socket's
      if (verdict.trusted) {
        this.#key = key;
        this.certificates?.certified(key);
        return true;
      }
      attempt.failure = verdict.error;
      if (verdict.status === 'unknown') onUnknownKey(key);
    } catch (error) {
      attempt.failure = error;
    }
    return false;
  }
}
