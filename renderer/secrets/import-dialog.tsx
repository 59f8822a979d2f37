import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { ImportedSecret, ImportedSecrets, ImportSecretsRequest } from '../../daemon/contract/secrets.ts';
import { problemText } from '../api/problem.ts';
import { usePanel } from '../panel-context.ts';
import { Button } from '../ui/button.tsx';
import { Dialog, DialogActions } from '../ui/dialog.tsx';
import { SecretText } from '../ui/secret-text.tsx';
import { countWords } from '../ui/time-words.ts';
import { useCall } from '../ui/use-call.ts';
import { ImportPreview } from './import-preview.tsx';
import { useTellOfChange } from './use-tell-of-change.ts';

type ImportDialogProps = { workspaceId: string; open: boolean; onClose: () => void };

/** Takes a whole `.env`: first says what would be set, then sets what was chosen of it. */
export function ImportDialog({ workspaceId, open, onClose }: ImportDialogProps) {
  return (
    <Dialog
      open={open}
      onClose={onClose}
      wide
      title="Paste a .env file"
      description="You see what would be set before anything is."
    >
      <ImportForm workspaceId={workspaceId} onClose={onClose} />
    </Dialog>
  );
}

function ImportForm({ workspaceId, onClose }: Omit<ImportDialogProps, 'open'>) {
  const { api } = usePanel();
  const cache = useQueryClient();
  const tell = useTellOfChange(workspaceId);
  const [env, setEnv] = useState('');
  const [found, setFound] = useState<ImportedSecret[]>();
  const send = (body: ImportSecretsRequest) =>
    api.json<ImportedSecrets>('/api/secrets', { method: 'POST', workspaceId, body });
  const preview = useCall(async () => setFound((await send({ env, preview: true })).secrets));
  const set = useCall(async (names: string[]) => {
    const done = await send({ env, names });
    const changed = done.secrets.filter(({ step }) => step === 'create' || step === 'update');
    tell({ title: `${countWords(changed.length, 'secret')} set`, receiptId: done.receipt_id });
    onClose();
    await cache.invalidateQueries({ queryKey: ['secrets', workspaceId] });
  });
  if (found !== undefined)
    return <ImportPreview found={found} call={set} onSet={set.run} onBack={() => setFound(undefined)} />;
  const ready = env.trim() !== '' && !preview.busy;
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (ready) preview.run();
      }}
    >
      <SecretText
        label="Content of the file"
        lines={8}
        autoFocus
        placeholder={'DATABASE_URL=postgres://…\nAPI_TOKEN="…"'}
        hint="Lines of the form NAME=value. Quotes, comments and values of several lines are understood."
        error={preview.error === null ? undefined : problemText(preview.error)}
        value={env}
        onChange={(text) => {
          setEnv(text);
          preview.reset();
        }}
      />
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" variant="primary" disabled={!ready}>
          {preview.busy ? 'Reading…' : 'Preview'}
        </Button>
      </DialogActions>
    </form>
  );
}
