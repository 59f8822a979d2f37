import { CodedError } from '../../contract/errors.ts';
import type { AcceptedHostKey } from '../../contract/ssh.ts';
import { type Clock, timestamp } from '../../lib/clock.ts';
import { fingerprintOf, keyTypeOf } from '../host-keys/key-blob.ts';
import { refuseHostKey } from '../host-keys/refuse-host-key.ts';
import { type AcceptedHostKeys, readKnownHosts } from '../host-keys/store.ts';
import type { ResolvedHost } from '../resolved-host.ts';

/** The unknown keys that hosts offered last, so that one of them can be accepted by its fingerprint. */
export class OfferedHostKeys {
  readonly #hostKeys: AcceptedHostKeys;
  readonly #clock: Clock;
  /** By alias and hop, of which the configuration has only so many. */
  readonly #offered = new Map<string, { host: ResolvedHost; key: Buffer }>();

  constructor(hostKeys: AcceptedHostKeys, clock: Clock) {
    this.#hostKeys = hostKeys;
    this.#clock = clock;
  }

  /** `host` is the hop on the way to `alias`, or that host itself. */
  remember(alias: string, host: ResolvedHost, key: Buffer): void {
    this.#offered.set(nameOf(alias, host.alias), { host, key });
  }

  /** @throws CodedError conflict, ssh_host_key_changed, ssh_host_key_revoked */
  async accept(alias: string, hop: string, fingerprint: string): Promise<AcceptedHostKey> {
    const offer = this.#offered.get(nameOf(alias, hop));
    if (offer === undefined)
      throw new CodedError(
        'conflict',
        `${hop} has offered no unknown key on the way to ${alias}: connect first`,
      );
    const { host, key } = offer;
    const offered = fingerprintOf(key);
    if (offered !== fingerprint)
      throw new CodedError('conflict', `the key that ${hop} offered last is another one: ${offered}`);
    // The files may say more by now than when the key was offered.
    const found = await this.#hostKeys.accept(host, key, await readKnownHosts(host.knownHostsFiles));
    if (found.status !== 'known') throw refuseHostKey(found, { alias, host, key });
    const { hostname, port } = host;
    return { hostname, port, key_type: keyTypeOf(key), fingerprint, accepted_at: timestamp(this.#clock()) };
  }
}

function nameOf(alias: string, hop: string): string {
  return `${alias}\0${hop}`;
}
