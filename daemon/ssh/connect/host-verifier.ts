import type { HostTrust } from '../host-keys/host-trust.ts';
import type { CertificateExchange } from './certificate-exchange.ts';
import type { SignInAttempt } from './sign-in-attempt.ts';

/** Answers ssh2 whether the host is the one it should be, at the first key exchange and at every one that follows. */
export class HostVerifier {
  certificates: CertificateExchange | undefined;
  readonly #trust: HostTrust;
  readonly #attempt: SignInAttempt;
  readonly #onUnknownKey: (key: Buffer) => void;
  #key: Buffer | undefined;

  constructor(trust: HostTrust, attempt: SignInAttempt, onUnknownKey: (key: Buffer) => void) {
    this.#trust = trust;
    this.#attempt = attempt;
    this.#onUnknownKey = onUnknownKey;
  }

  get trustedKey(): Buffer {
    if (this.#key === undefined)
      throw new Error('ssh2 signed in without asking for the host key to be verified');
    return this.#key;
  }

  verify(offered: Buffer): boolean {
    try {
      const verdict = this.#trust.judge(offered, Date.now());
      const key = Buffer.from(verdict.key); // a copy: it may lie in a buffer of the socket's
      if (verdict.trusted) {
        this.#key = key;
        this.certificates?.certified(key);
        return true;
      }
      this.#attempt.failure = verdict.error;
      if (verdict.status === 'unknown') this.#onUnknownKey(key);
    } catch (error) {
      this.#attempt.failure = error;
    }
    return false;
  }
}
