import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { toast } from 'sonner';
import type { ImportMasterKeyRequest } from '../../daemon/contract/master-key.ts';
import { ApiProblem, problemText } from '../api/problem.ts';
import { usePanel } from '../panel-context.ts';
import { Button } from '../ui/button.tsx';
import { Dialog, DialogActions } from '../ui/dialog.tsx';
import { SecretText } from '../ui/secret-text.tsx';
import { useCall } from '../ui/use-call.ts';

/** Takes a master key back that was exported before. */
export function ImportKeyDialog({ open, onClose }: { open: boolean; onClose: () => void }) {
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title="Import a recovery key"
      description="The master key as you exported it. It has to be the one that your secrets are encrypted with: then they can be opened again."
    >
      <ImportForm onClose={onClose} />
    </Dialog>
  );
}

function ImportForm({ onClose }: { onClose: () => void }) {
  const { api } = usePanel();
  const cache = useQueryClient();
  const [key, setKey] = useState('');
  const send = useCall(async () => {
    const body: ImportMasterKeyRequest = { key: key.trim() };
    await api.send('/api/account/master-key/import', { method: 'POST', body });
    toast.success('The master key is imported');
    onClose();
    await Promise.all(
      ['master-key', 'secrets', 'audit-log'].map((kind) => cache.invalidateQueries({ queryKey: [kind] })),
    );
  });
  const ready = key.trim() !== '' && !send.busy;
  const submit = () => {
    if (ready) send.run();
  };
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <SecretText
        label="Recovery key"
        autoFocus
        hint="44 characters, ending with =."
        error={send.error === null ? undefined : importProblem(send.error)}
        value={key}
        onEnter={submit}
        onChange={(text) => {
          setKey(text);
          send.reset();
        }}
      />
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" variant="primary" disabled={!ready}>
          {send.busy ? 'Importing…' : 'Import key'}
        </Button>
      </DialogActions>
    </form>
  );
}

function importProblem(error: Error): string {
  const field = error instanceof ApiProblem ? error.fields.find(({ path }) => path === 'key') : undefined;
  return field === undefined ? problemText(error) : `The key ${field.message}.`;
}
