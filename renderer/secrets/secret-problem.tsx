import type { RecentProject } from '../../daemon/contract/projects.ts';
import { ApiProblem } from '../api/problem.ts';
import { QueryState } from '../ui/query-state.tsx';
import { damagedStoreIn } from './damaged-store-in.ts';
import { DamagedStorePanel } from './damaged-store-panel.tsx';
import { KeyProblem } from './key-problem.tsx';

type SecretProblemProps = {
  workspace: RecentProject;
  query: { error: unknown; refetch: () => unknown };
  onRetry: () => void;
};

/** Why there is no list of secrets, and what can be done. */
export function SecretProblem({ workspace, query, onRetry }: SecretProblemProps) {
  const { error } = query;
  const store = damagedStoreIn(error);
  if (store !== undefined) return <DamagedStorePanel workspace={workspace} store={store} onRetry={onRetry} />;
  if (error instanceof ApiProblem && error.code === 'master_key_locked')
    return <KeyProblem state="locked" detail={error.message} onRetry={onRetry} />;
  if (error instanceof ApiProblem && error.code === 'master_key_unavailable')
    return <KeyProblem state="missing" detail={error.message} onRetry={onRetry} />;
  return <QueryState query={query} what="secrets" />;
}
