import { ReceiptText } from 'lucide-react';
import { goTo } from '../frame/route.ts';
import { Button } from '../ui/button.tsx';
import { EmptyState } from '../ui/empty-state.tsx';

export function NoReceipts({ workspaceName }: { workspaceName: string }) {
  return (
    <div className="overflow-y-auto">
      <EmptyState
        icon={<ReceiptText />}
        title={`No receipts in ${workspaceName} yet`}
        action={
          <>
            <Button variant="primary" onClick={() => goTo('jobs', 'run')}>
              Run a command
            </Button>
            <Button onClick={() => goTo('files')}>Edit a file</Button>
          </>
        }
      >
        A receipt says who changed which files, and how, down to the line. Every change made by an agent, by a
        command or here in the panel leaves one. Each is linked to the one before by its hash, so that none
        can be altered or removed unnoticed, and each change can be rolled back.
      </EmptyState>
    </div>
  );
}
