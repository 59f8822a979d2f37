import { useQueryClient } from '@tanstack/react-query';
import { Copy, Eye } from 'lucide-react';
import { useState } from 'react';
import { toast } from 'sonner';
import type { RevealedSecret, SecretListing } from '../../daemon/contract/secrets.ts';
import { problemText } from '../api/problem.ts';
import { copyText } from '../desktop-bridge.ts';
import { usePanel } from '../panel-context.ts';
import { Button } from '../ui/button.tsx';
import { Dialog, DialogActions } from '../ui/dialog.tsx';
import { useCall } from '../ui/use-call.ts';
import { clearAfterMs, clipboardWords } from './clipboard-words.ts';
import { RevealedValue } from './revealed-value.tsx';

type RevealDialogProps = { workspaceId: string; secret: SecretListing | undefined; onClose: () => void };

/** Asks before it fetches a value, which is kept nowhere but in this dialog, and only while it is shown. */
export function RevealDialog({ workspaceId, secret, onClose }: RevealDialogProps) {
  if (secret === undefined) return null;
  return <Reveal key={secret.name} workspaceId={workspaceId} name={secret.name} onClose={onClose} />;
}

function Reveal({ workspaceId, name, onClose }: { workspaceId: string; name: string; onClose: () => void }) {
  const [value, setValue] = useState<string>();
  const fetchValue = useFetchValue(workspaceId, name);
  const reveal = useCall(async () => {
    const fetched = await fetchValue();
    if (!document.hidden) setValue(fetched);
  });
  const copy = useCall(async () => {
    await copyText(await fetchValue(), clearAfterMs);
    toast.success(`${name} is copied`, { description: clipboardWords(), duration: 10_000 });
    onClose();
  });
  const error = reveal.error ?? copy.error;
  const busy = reveal.busy || copy.busy;
  if (value !== undefined)
    return (
      <Dialog open onClose={onClose} title={name}>
        <RevealedValue name={name} value={value} onHide={onClose} />
      </Dialog>
    );
  return (
    <Dialog
      open
      onClose={onClose}
      title={`Reveal ${name}?`}
      description="Its value is shown for 30 seconds. The audit log says that you looked, or copied it."
    >
      {error !== null && (
        <p role="alert" className="text-danger-text">
          Not revealed. {problemText(error)}
        </p>
      )}
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button disabled={busy} onClick={() => copy.run()}>
          <Copy className="size-4" aria-hidden />
          Copy without showing
        </Button>
        <Button variant="primary" disabled={busy} onClick={() => reveal.run()}>
          <Eye className="size-4" aria-hidden />
          Reveal
        </Button>
      </DialogActions>
    </Dialog>
  );
}

/** Straight from the daemon and past every cache. */
function useFetchValue(workspaceId: string, name: string): () => Promise<string> {
  const { api } = usePanel();
  const cache = useQueryClient();
  return async () => {
    const path = `/api/secrets/${encodeURIComponent(name)}`;
    const { value } = await api.json<RevealedSecret>(path, { workspaceId });
    void cache.invalidateQueries({ queryKey: ['audit-log'] });
    return value;
  };
}
