import { ApiProblem } from '../api/problem.ts';

/** Whether it is the secrets alone that keep a command from running: without them it can. */
export function needsSecrets(error: unknown): boolean {
  return (
    error instanceof ApiProblem &&
    (error.code === 'secrets_store_damaged' ||
      error.code === 'master_key_locked' ||
      error.code === 'master_key_unavailable')
  );
}

export const needsSecretsWords = 'The secrets of this workspace can’t be opened now.';
