import { CodedError } from '../../contract/errors.ts';
import type { SshHostKey } from '../../contract/ssh.ts';
import type { ResolvedHost } from '../resolved-host.ts';
import type { HostKeyStatus } from './check-host-key.ts';
import { fingerprintOf, keyTypeOf } from './key-blob.ts';

export interface RefusedHostKey {
  /** What was asked for. */
  readonly alias: string;
  /** Whose key it is: that host, or one on the way. */
  readonly host: ResolvedHost;
  readonly key: Buffer;
  /** Why the certificate around the key does not count, where there is one. */
  readonly certificateRefusal?: string | undefined;
}

/** The error for a key that is not known; its members are `SshHostKey`. */
export function refuseHostKey(found: HostKeyStatus, refused: RefusedHostKey): CodedError {
  const { alias, host, key, certificateRefusal } = refused;
  const members: SshHostKey = {
    host: alias,
    hop: host.alias,
    hostname: host.hostname,
    port: host.port,
    key_type: keyTypeOf(key),
    fingerprint: fingerprintOf(key),
    known_fingerprints: 'knownFingerprints' in found ? [...found.knownFingerprints] : [],
  };
  const name = `${host.alias} (${host.hostname}, port ${host.port})`;
  const reason =
    certificateRefusal === undefined ? '' : ` Its certificate does not count: ${certificateRefusal}.`;
  if (found.status === 'revoked') {
    const detail = `The key that ${name} offers, or the authority that signed it, is revoked: do not connect.`;
    return new CodedError('ssh_host_key_revoked', detail, { members });
  }
  if (found.status === 'changed') {
    const detail = `${name} offers another key than the known ones: it was set up anew, or someone is in between.`;
    return new CodedError('ssh_host_key_changed', `${detail}${reason}`, { members });
  }
  const detail = `The key of ${name} is not known: compare ${members.fingerprint} with what its operator says.`;
  return new CodedError('ssh_host_key_unknown', `${detail}${reason}`, { members });
}
