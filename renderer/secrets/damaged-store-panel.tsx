import { useMutation, useQueryClient } from '@tanstack/react-query';
import { ShieldAlert } from 'lucide-react';
import { useState } from 'react';
import { toast } from 'sonner';
import type { RecentProject } from '../../daemon/contract/projects.ts';
import type { DamagedStore, RecoveredStore } from '../../daemon/contract/secrets.ts';
import { problemText } from '../api/problem.ts';
import { usePanel } from '../panel-context.ts';
import { Button } from '../ui/button.tsx';
import { ConfirmDialog } from '../ui/confirm-dialog.tsx';
import { agoWords, countWords } from '../ui/time-words.ts';
import { useNow } from '../ui/use-now.ts';
import { ProblemPanel } from './problem-panel.tsx';
import { secretStorePath } from './secret-store-path.ts';
import { useTellOfChange } from './use-tell-of-change.ts';

type DamagedStoreProps = { workspace: RecentProject; store: DamagedStore; onRetry: () => void };

/** The store can't be opened: nothing is done about that before a person has chosen what. */
export function DamagedStorePanel({ workspace, store, onRetry }: DamagedStoreProps) {
  const [asked, setAsked] = useState<'copy' | 'empty'>();
  const recover = useRecover(workspace.ws_id);
  const copy = useCopyWords(store);
  const close = () => setAsked(undefined);
  return (
    <ProblemPanel
      icon={<ShieldAlert />}
      title={`The secrets of ${workspace.name} can not be opened`}
      actions={
        <>
          {copy !== undefined && (
            <Button variant="primary" onClick={() => setAsked('copy')}>
              Use the copy…
            </Button>
          )}
          <Button onClick={() => setAsked('empty')}>Start empty…</Button>
          <Button onClick={onRetry}>Try again</Button>
        </>
      }
    >
      <p className="text-text">{reasonWords[store.reason]}</p>
      <p>
        {copy === undefined
          ? 'The daemon has no copy that can be opened. Put the right file or the right key back, or start empty.'
          : `The daemon keeps a copy of its own with ${copy}.`}{' '}
        Until you choose, commands can run without secrets only.
      </p>
      {asked !== undefined && (
        <ConfirmDialog
          open
          title={asked === 'copy' ? 'Use the daemon’s copy?' : 'Start with no secrets?'}
          action={asked === 'copy' ? 'Use the copy' : 'Start empty'}
          harmless={asked === 'copy'}
          busy={recover.isPending}
          onConfirm={() => recover.mutate(asked, { onSettled: close })}
          onClose={close}
        >
          <p>
            {asked === 'copy'
              ? `${workspace.name} gets ${copy ?? 'the secrets of the copy'}. What was changed elsewhere since is not in it.`
              : `${workspace.name} has no secrets then. You set them anew.`}
          </p>
          <p>The file that can’t be opened is kept beside it under another name.</p>
        </ConfirmDialog>
      )}
    </ProblemPanel>
  );
}

/** "3 secrets, last changed 5 min ago" */
function useCopyWords({ copy }: DamagedStore): string | undefined {
  const now = useNow(30_000);
  if (copy === null) return undefined;
  const count = countWords(copy.secrets, 'secret');
  return copy.updated_at === null ? count : `${count}, last changed ${agoWords(copy.updated_at, now)}`;
}

function useRecover(workspaceId: string) {
  const { api } = usePanel();
  const cache = useQueryClient();
  const tell = useTellOfChange(workspaceId);
  return useMutation({
    mutationFn: (use: 'copy' | 'empty') =>
      api.json<RecoveredStore>('/api/secrets/recover-store', { method: 'POST', workspaceId, body: { use } }),
    onSuccess: ({ secrets, receipt_id, set_aside }) => {
      tell({
        title:
          secrets.length === 0
            ? 'Started with no secrets'
            : `${countWords(secrets.length, 'secret')} recovered`,
        receiptId: receipt_id,
        warning: set_aside === null ? undefined : `The old file is now ${set_aside}`,
      });
      return cache.invalidateQueries({ queryKey: ['secrets', workspaceId] });
    },
    onError: (error) => toast.error('Nothing was recovered', { description: problemText(error) }),
  });
}

const reasonWords: Record<DamagedStore['reason'], string> = {
  unreadable: `The file ${secretStorePath} can not be read, or is no store of secrets.`,
  wrong_key_or_altered: `The file ${secretStorePath} was altered, or made with another master key. If you have that key, import it under Security.`,
  other_workspace: `The file ${secretStorePath} belongs to another workspace.`,
  rolled_back: `The file ${secretStorePath} is older than the last one the daemon saw. Something has put an old one in its place.`,
};
