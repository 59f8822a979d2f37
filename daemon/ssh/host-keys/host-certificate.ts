import { matchPattern } from '../config/match-pattern.ts';
import { KeyReader, keyString } from './key-blob.ts';
import { verifySignature } from './verify-signature.ts';

export const certificateSuffix = '-cert-v01@openssh.com';

/** A key with what an authority says of it (OpenSSH's PROTOCOL.certkeys). */
export interface HostCertificate {
  /** The certified key, as it would go over the wire without the certificate. */
  readonly key: Buffer;
  readonly authority: Buffer;
  readonly isForHosts: boolean;
  /** Names, with wildcards; none stands for any. */
  readonly principals: readonly string[];
  /** Seconds since the epoch: valid from the first on, and before the second. */
  readonly validAfter: bigint;
  readonly validBefore: bigint;
  readonly hasCriticalOptions: boolean;
  /** The authority signed all of it, with an algorithm that we allow. */
  readonly isSigned: boolean;
}

const hostType = 2;

/** Fields of the key between the nonce and the serial number. */
const keyFields = new Map([
  ['ssh-ed25519', 1],
  ['ecdsa-sha2-nistp256', 2],
  ['ecdsa-sha2-nistp384', 2],
  ['ecdsa-sha2-nistp521', 2],
  ['ssh-rsa', 2],
]);

/** Undefined for what is no certificate of a type that we offer. */
export function parseHostCertificate(blob: Buffer): HostCertificate | undefined {
  const reader = new KeyReader(blob);
  const type = reader.text() ?? '';
  const keyType = type.endsWith(certificateSuffix) ? type.slice(0, -certificateSuffix.length) : '';
  const count = keyFields.get(keyType);
  if (count === undefined) return undefined;
  reader.string(); // the nonce
  const key = Array.from({ length: count }, () => reader.string());
  reader.bigNumber(); // the serial number
  const certifies = reader.number();
  reader.string(); // the id, for logs
  const principals = listOf(reader.string());
  const [validAfter, validBefore] = [reader.bigNumber(), reader.bigNumber()];
  const criticalOptions = reader.string();
  reader.string(); // extensions, none of which is for hosts
  reader.string(); // reserved
  const authority = reader.string();
  const signed = blob.subarray(0, reader.position);
  const signature = reader.string();
  // A field that is cut off leaves all that follow undefined too, as each begins where the one before ended.
  if (signature === undefined || !reader.atEnd || authority === undefined || criticalOptions === undefined)
    return undefined;
  if (principals === undefined || validAfter === undefined || validBefore === undefined) return undefined;
  if (key.includes(undefined)) return undefined;
  return {
    key: Buffer.concat([keyType, ...key].map((field) => keyString(field ?? ''))),
    authority,
    isForHosts: certifies === hostType,
    principals,
    validAfter,
    validBefore,
    hasCriticalOptions: criticalOptions.length > 0,
    isSigned: verifySignature(authority, signature, signed),
  };
}

/**
 * Why a certificate does not vouch for the host `name` at `nowMs`, or undefined where it does. Whether its authority
 * may is not looked at.
 */
export function certificateFault(
  certificate: HostCertificate,
  name: string,
  nowMs: number,
): string | undefined {
  const { principals, validAfter, validBefore } = certificate;
  if (!certificate.isSigned) return 'its signature is not valid, or of an algorithm that is not allowed';
  if (!certificate.isForHosts) return 'it is for users, not for hosts';
  if (certificate.hasCriticalOptions) return 'it has a critical option that is not known';
  const now = BigInt(Math.floor(nowMs / 1000));
  if (now < validAfter) return 'it is not valid yet';
  if (now >= validBefore) return 'it has expired';
  if (principals.length > 0 && !principals.some((principal) => matchPattern(name, principal)))
    return `it is not for ${name}`;
  return undefined;
}

function listOf(packed: Buffer | undefined): string[] | undefined {
  if (packed === undefined) return undefined;
  const reader = new KeyReader(packed);
  const items: string[] = [];
  while (!reader.atEnd) {
    const item = reader.text();
    if (item === undefined) return undefined;
    items.push(item);
  }
  return items;
}
