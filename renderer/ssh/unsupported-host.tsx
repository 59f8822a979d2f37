import { Ban } from 'lucide-react';
import type { SshHost } from '../../daemon/contract/ssh.ts';

/** Why a host can't be used from here. */
export function UnsupportedHost({ host }: { host: SshHost }) {
  return (
    <div className="p-4">
      <div className="flex gap-3 rounded-lg bg-inset px-4 py-3">
        <Ban className="mt-0.5 size-4 shrink-0 text-muted" aria-hidden />
        <div className="min-w-0">
          <h3 className="font-semibold">{host.host} can’t be used from here</h3>
          <p className="mt-0.5 break-words text-muted select-text">{host.reason}</p>
          <p className="mt-2 text-muted">
            It still works with <code className="font-mono text-xs">ssh</code> in your terminal.
          </p>
        </div>
      </div>
    </div>
  );
}
