import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import type { SecretListing, SetSecret, SetSecretRequest } from '../../daemon/contract/secrets.ts';
import { ApiProblem, problemText } from '../api/problem.ts';
import { usePanel } from '../panel-context.ts';
import { Button } from '../ui/button.tsx';
import { Dialog, DialogActions } from '../ui/dialog.tsx';
import { Field } from '../ui/field.tsx';
import { SecretText } from '../ui/secret-text.tsx';
import { useCall } from '../ui/use-call.ts';
import { useTellOfChange } from './use-tell-of-change.ts';

type SecretDialogProps = {
  workspaceId: string;
  open: boolean;
  /** The one that gets another value; without it a new one is added. */
  secret: SecretListing | undefined;
  /** Those that are there. */
  secrets: SecretListing[];
  onClose: () => void;
};

export function SecretDialog({ open, ...form }: SecretDialogProps) {
  const { secret, onClose } = form;
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title={secret === undefined ? 'Add secret' : `Change ${secret.name}`}
      description={secret && 'Commands that are started from now on get the new value.'}
    >
      <SecretForm {...form} />
    </Dialog>
  );
}

function SecretForm({ workspaceId, secret, secrets, onClose }: Omit<SecretDialogProps, 'open'>) {
  const [name, setName] = useState(secret?.name ?? '');
  const [value, setValue] = useState('');
  const set = useSetSecret(workspaceId, onClose);
  const wanted = name.trim();
  const ready = wanted !== '' && value !== '' && !set.busy;
  const replaces = secret === undefined && secrets.some((one) => one.name === wanted);
  const mistakes = mistakesIn(set.error);
  function submit(event?: FormEvent) {
    event?.preventDefault();
    if (ready) set.run(wanted, value);
  }
  return (
    <form onSubmit={submit} noValidate autoComplete="off">
      {secret === undefined && (
        <Field
          label="Name"
          className="mb-4"
          inputClassName="font-mono text-xs!"
          placeholder="DATABASE_URL"
          maxLength={200}
          autoComplete="off"
          autoCapitalize="off"
          spellCheck={false}
          autoFocus
          error={mistakes.name}
          hint={
            replaces
              ? 'There is a secret of this name. Its value will be replaced.'
              : 'The environment variable that commands find it in.'
          }
          value={name}
          onChange={(event) => {
            setName(event.target.value);
            set.reset();
          }}
        />
      )}
      <SecretText
        label={secret === undefined ? 'Value' : 'New value'}
        autoFocus={secret !== undefined}
        error={mistakes.value}
        hint={
          value.endsWith('\n') ? (
            <LineBreakAtEnd onRemove={() => setValue(value.replace(/[\r\n]+$/, ''))} />
          ) : (
            'Kept as it is typed. Shift Enter makes a line break.'
          )
        }
        value={value}
        onEnter={submit}
        onChange={(next) => {
          setValue(next);
          set.reset();
        }}
      />
      {mistakes.other !== undefined && (
        <p role="alert" className="mt-4 text-danger-text">
          {mistakes.other}
        </p>
      )}
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" variant="primary" disabled={!ready}>
          {set.busy ? 'Saving…' : secret === undefined && !replaces ? 'Add secret' : 'Replace value'}
        </Button>
      </DialogActions>
    </form>
  );
}

/** Most often it came along with a paste, and a password with a line break in it is refused where it is used. */
function LineBreakAtEnd({ onRemove }: { onRemove: () => void }) {
  return (
    <span className="text-warning-text">
      The value ends with a line break.{' '}
      <button type="button" onClick={onRemove} className="font-medium underline underline-offset-2">
        Remove it
      </button>
    </span>
  );
}

function useSetSecret(workspaceId: string, onSet: () => void) {
  const { api } = usePanel();
  const cache = useQueryClient();
  const tell = useTellOfChange(workspaceId);
  return useCall(async (name: string, value: string) => {
    const body: SetSecretRequest = { value };
    const path = `/api/secrets/${encodeURIComponent(name)}`;
    const response = await api.open(path, { method: 'POST', workspaceId, body });
    const done: SetSecret = await response.json();
    tell({
      title: titleOf(done, response.status === 201),
      receiptId: done.receipt_id,
      warning: done.warning,
    });
    onSet();
    await cache.invalidateQueries({ queryKey: ['secrets', workspaceId] });
  });
}

function titleOf({ name, receipt_id }: SetSecret, created: boolean): string {
  if (created) return `${name} is added`;
  return receipt_id === null ? `${name} had this value already` : `${name} has its new value`;
}

type Mistakes = { name?: string; value?: string; other?: string };

function mistakesIn(error: Error | null): Mistakes {
  if (error === null) return {};
  if (!(error instanceof ApiProblem)) return { other: problemText(error) };
  const mistakes: Mistakes = {};
  for (const { path, message } of error.fields) {
    if (path === 'name') mistakes.name = `The name ${message}.`;
    if (path === 'value') mistakes.value = `The value ${message}.`;
  }
  // A name like ".." does not even get to where names are looked at.
  if (error.code === 'not_found' || error.code === 'method_not_allowed')
    mistakes.name = 'This can not be the name of an environment variable.';
  return Object.keys(mistakes).length > 0 ? mistakes : { other: problemText(error) };
}
