import type { MasterKeyStatus } from '../../daemon/contract/master-key.ts';
import { exactTime } from '../ui/time-words.ts';

/** Old keys that are still needed, and by whom. */
export function RetiredKeys({ retired }: { retired: MasterKeyStatus['retired'] }) {
  if (retired.length === 0) return null;
  return (
    <div className="border-t border-line px-3 py-2.5">
      <h3 className="font-medium">Old keys that are kept</h3>
      <p className="text-xs text-muted">
        These workspaces could not be reached during a rotation. Open each once: then its old key is dropped.
      </p>
      <ul className="mt-1.5 space-y-1">
        {retired.map(({ key_id, retired_at, workspaces }) => (
          <li key={key_id} className="flex flex-wrap items-baseline gap-x-3">
            <code className="font-mono text-xs" title={`Retired on ${exactTime(retired_at)}`}>
              {key_id}
            </code>
            <span className="text-muted">{workspaces.map(({ slug }) => slug).join(', ')}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}
