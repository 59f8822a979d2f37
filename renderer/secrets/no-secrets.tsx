import { LockKeyhole } from 'lucide-react';
import type { ReactNode } from 'react';
import { EmptyState } from '../ui/empty-state.tsx';

export function NoSecrets({ workspaceName, action }: { workspaceName: string; action: ReactNode }) {
  return (
    <div className="rounded-lg border border-dashed border-line-strong">
      <EmptyState icon={<LockKeyhole />} title={`No secrets in ${workspaceName} yet`} action={action}>
        Keep passwords, tokens and keys here instead of in files. Commands that agents run can use them, but
        agents never see them: in all output, *** stands in their place. They are kept encrypted, and a value
        is shown only to you, when you ask for it.
      </EmptyState>
    </div>
  );
}
