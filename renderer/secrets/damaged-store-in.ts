import type { DamagedStore } from '../../daemon/contract/secrets.ts';
import { ApiProblem } from '../api/problem.ts';

/** What the problem `secrets_store_damaged` tells; undefined for any other error. */
export function damagedStoreIn(error: unknown): DamagedStore | undefined {
  if (!(error instanceof ApiProblem) || error.code !== 'secrets_store_damaged') return undefined;
  const { reason, copy } = error.members;
  return { reason: reasons.find((known) => known === reason) ?? 'unreadable', copy: copyIn(copy) };
}

const reasons = ['unreadable', 'wrong_key_or_altered', 'other_workspace', 'rolled_back'] as const;

function copyIn(copy: unknown): DamagedStore['copy'] {
  if (typeof copy !== 'object' || copy === null || !('secrets' in copy)) return null;
  const updatedAt = 'updated_at' in copy ? copy.updated_at : null;
  return typeof copy.secrets === 'number'
    ? { secrets: copy.secrets, updated_at: typeof updatedAt === 'string' ? updatedAt : null }
    : null;
}
