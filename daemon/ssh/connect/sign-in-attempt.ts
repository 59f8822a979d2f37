import type { AnyAuthMethod, AuthenticationType } from 'ssh2';
import { CodedError } from '../../contract/errors.ts';
import type { ResolvedHost } from '../resolved-host.ts';
import { nameOfHost } from './dial.ts';
import type { KeyRing } from './key-ring.ts';

/** What was tried to sign in to a host, and what the failure is called that came of it. */
export class SignInAttempt {
  /** What is known of the failure before ssh2 speaks of it; goes before what ssh2 says. */
  failure: unknown;
  readonly #host: ResolvedHost;
  readonly #keys: KeyRing;
  /** The host's key is verified. */
  #isSigningIn = false;
  #triedKeys = false;
  /** What the host would take, as it said last. */
  #methods: readonly AuthenticationType[] = [];

  constructor(host: ResolvedHost, keys: KeyRing) {
    this.#host = host;
    this.#keys = keys;
  }

  get isSigningIn(): boolean {
    return this.#isSigningIn;
  }

  begin(): void {
    this.#isSigningIn = true;
  }

  /** ssh2's `authHandler`: first nothing, to hear what the host takes, then the keys, then no more. */
  next(methods: readonly AuthenticationType[] | null): AnyAuthMethod | false {
    const username = this.#host.user;
    if (methods === null) return { type: 'none', username };
    this.#methods = methods;
    if (this.#triedKeys || !methods.includes('publickey') || this.#keys.names.length === 0) return false;
    this.#triedKeys = true;
    return { type: 'agent', username, agent: this.#keys.agent };
  }

  /** `error` is ssh2's; none where the stream just ended. */
  failureOf(error: unknown): unknown {
    if (this.failure === undefined) this.failure = this.#describe(error);
    return this.failure;
  }

  #describe(error: unknown): unknown {
    if (error instanceof CodedError) return error;
    const name = nameOfHost(this.#host);
    const said = error instanceof Error ? error.message : 'it closed the connection';
    const level = error instanceof Error && 'level' in error ? error.level : undefined;
    // ssh2 gives a disconnect message of the host its number as code; a socket's error has a name there.
    const isDisconnect = error instanceof Error && 'code' in error && typeof error.code === 'number';
    if (!this.#isSigningIn || (level !== 'client-authentication' && !isDisconnect)) {
      const step = this.#isSigningIn ? 'signing in' : 'the key exchange';
      return new CodedError('ssh_connect_failed', `${name} failed at ${step}: ${said}`, { cause: error });
    }
    if (this.#methods.length > 0 && !this.#methods.includes('publickey') && !this.#triedKeys) {
      const detail = `${name} takes no keys, only ${this.#methods.join(', ')}: passwords are not supported`;
      return new CodedError('ssh_password_host_unsupported', detail, { cause: error });
    }
    return new CodedError('ssh_auth_failed', `${name} refuses ${this.#host.user}: ${this.#tried(said)}`, {
      cause: error,
    });
  }

  #tried(said: string): string {
    const { names, skipped, used } = this.#keys;
    const keys = names.length === 0 ? 'there is no key to sign in with' : `tried ${names.join(', ')}`;
    const methods = this.#methods.length === 0 ? [] : [`it takes ${this.#methods.join(', ')}`];
    const disconnect = said.startsWith('All configured') ? [] : [`it says: ${said}`];
    // ssh2 keeps to itself what the host then asks for.
    const more =
      used.length === 0 ? [] : [`it knows ${used.join(', ')} but wants more than that, or bars the user`];
    return [keys, ...more, ...skipped, ...methods, ...disconnect].join('; ');
  }
}
