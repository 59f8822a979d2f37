import { CodedError } from '../../contract/errors.ts';
import type { ResolvedHost } from '../resolved-host.ts';
import {
  certificateAuthorities,
  checkInBoth,
  type HostKeyStatus,
  isRevoked,
  knownKeyTypes,
  lookupNames,
} from './check-host-key.ts';
import { certificateFault, certificateSuffix, parseHostCertificate } from './host-certificate.ts';
import { fingerprintOf, keyTypeOf } from './key-blob.ts';
import type { KnownHost } from './known-hosts.ts';
import { refuseHostKey } from './refuse-host-key.ts';

/** What a host's offered key comes to; `key` is the key itself, without the certificate around it. */
export type HostKeyVerdict =
  | { readonly trusted: true; readonly key: Buffer }
  | {
      readonly trusted: false;
      readonly key: Buffer;
      readonly status: HostKeyStatus['status'];
      readonly error: CodedError;
    };

export interface KnownHosts {
  /** From the user's files. */
  readonly theirs: readonly KnownHost[];
  /** Accepted here. */
  readonly ours: readonly KnownHost[];
}

const keyAlgorithms = [
  'ssh-ed25519',
  'ecdsa-sha2-nistp256',
  'ecdsa-sha2-nistp384',
  'ecdsa-sha2-nistp521',
  'rsa-sha2-512',
  'rsa-sha2-256',
] as const;

export type HostKeyAlgorithm = (typeof keyAlgorithms)[number];

/** Judges the keys that one host offers, by what was known when the connection began. */
export class HostTrust {
  readonly #alias: string;
  readonly #host: ResolvedHost;
  readonly #known: KnownHosts;
  readonly #all: readonly KnownHost[];

  /** `alias` is the host that was asked for, `host` that or one on the way. */
  constructor(alias: string, host: ResolvedHost, known: KnownHosts) {
    this.#alias = alias;
    this.#host = host;
    this.#known = known;
    this.#all = [...known.theirs, ...known.ours];
  }

  /**
   * Host key algorithms to offer, the preferred first: those of the keys that are known, since a host that has several
   * keys would otherwise offer one that is not.
   */
  get keyAlgorithms(): HostKeyAlgorithm[] {
    const theirs = knownKeyTypes(this.#known.theirs, this.#host);
    const types = theirs.length > 0 ? theirs : knownKeyTypes(this.#known.ours, this.#host);
    const isKnown = (algorithm: HostKeyAlgorithm) =>
      types.includes(algorithm.startsWith('rsa-') ? 'ssh-rsa' : algorithm);
    return [...keyAlgorithms.filter(isKnown), ...keyAlgorithms.filter((algorithm) => !isKnown(algorithm))];
  }

  /** Those of certificates: none where no authority is known that could vouch for the host. */
  get certificateAlgorithms(): string[] {
    if (certificateAuthorities(this.#all, this.#host).length === 0) return [];
    return this.keyAlgorithms.map((algorithm) => `${algorithm}${certificateSuffix}`);
  }

  /**
   * `offered` is a key or a certificate, as it came over the wire.
   *
   * @throws CodedError ssh_connect_failed for a certificate that is none
   */
  judge(offered: Buffer, nowMs: number): HostKeyVerdict {
    const certificate = parseHostCertificate(offered);
    if (certificate === undefined) {
      if (keyTypeOf(offered).endsWith(certificateSuffix))
        throw new CodedError('ssh_connect_failed', `${this.#host.alias} offers a malformed certificate`);
      return this.#judgeKey(offered, undefined);
    }
    const { key, authority } = certificate;
    if (isRevoked(this.#all, this.#host, authority)) {
      return this.#refuse(
        key,
        { status: 'revoked', knownFingerprints: [fingerprintOf(authority)] },
        undefined,
      );
    }
    const [name] =
      this.#host.hostKeyAlias === null ? [this.#host.hostname.toLowerCase()] : lookupNames(this.#host);
    const mayVouch = certificateAuthorities(this.#all, this.#host).some((known) => known.equals(authority));
    const fault = mayVouch ? certificateFault(certificate, name ?? '', nowMs) : 'its authority is not known';
    if (fault === undefined && !isRevoked(this.#all, this.#host, key)) return { trusted: true, key };
    // As OpenSSH does, the key then counts for what it is by itself.
    return this.#judgeKey(key, fault);
  }

  #judgeKey(key: Buffer, certificateRefusal: string | undefined): HostKeyVerdict {
    const found = checkInBoth(this.#known.theirs, this.#known.ours, this.#host, key);
    return found.status === 'known' ? { trusted: true, key } : this.#refuse(key, found, certificateRefusal);
  }

  #refuse(key: Buffer, found: HostKeyStatus, certificateRefusal: string | undefined): HostKeyVerdict {
    const refused = { alias: this.#alias, host: this.#host, key, certificateRefusal };
    return { trusted: false, key, status: found.status, error: refuseHostKey(found, refused) };
  }
}
