import type { SshHostKey } from '../../daemon/contract/ssh.ts';
import { ApiProblem } from '../api/problem.ts';

export type HostKeyProblem = { kind: 'unknown' | 'changed' | 'revoked'; key: SshHostKey };

/** The host key that a connection was refused for, if that is why. */
export function hostKeyProblem(error: unknown): HostKeyProblem | undefined {
  if (!(error instanceof ApiProblem)) return undefined;
  const kind = kinds[error.code];
  return kind !== undefined && isHostKey(error.members) ? { kind, key: error.members } : undefined;
}

const kinds: Partial<Record<ApiProblem['code'], HostKeyProblem['kind']>> = {
  ssh_host_key_unknown: 'unknown',
  ssh_host_key_changed: 'changed',
  ssh_host_key_revoked: 'revoked',
};

function isHostKey(members: object): members is SshHostKey {
  return 'fingerprint' in members && 'host' in members && 'hop' in members && 'known_fingerprints' in members;
}
