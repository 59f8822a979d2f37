import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import type { CreatedKey, CreateKeyRequest, KeyExpiry } from '../../daemon/contract/api-keys.ts';
import type { Scope } from '../../daemon/contract/scopes.ts';
import { ApiProblem, problemText } from '../api/problem.ts';
import { usePanel } from '../panel-context.ts';
import { Button } from '../ui/button.tsx';
import { Dialog, DialogActions } from '../ui/dialog.tsx';
import { Field } from '../ui/field.tsx';
import { RadioCard } from '../ui/radio-card.tsx';
import { expiryWords, scopeWords } from './scope-words.ts';

type CreateKeyProps = { open: boolean; onClose: () => void; onCreated: (key: CreatedKey) => void };

export function CreateKeyDialog({ open, onClose, onCreated }: CreateKeyProps) {
  return (
    <Dialog open={open} onClose={onClose} title="Create API key">
      <CreateKeyForm onClose={onClose} onCreated={onCreated} />
    </Dialog>
  );
}

function CreateKeyForm({ onClose, onCreated }: Omit<CreateKeyProps, 'open'>) {
  const [name, setName] = useState('');
  const [scopes, setScopes] = useState<Scope>('agent');
  const [expiry, setExpiry] = useState<KeyExpiry>('1m');
  const [cap, setCap] = useState('');
  const create = useCreateKey();
  const capMistake = capProblem(cap);
  const nameMistake = create.error === null ? undefined : fieldProblem(create.error, 'name');
  function submit(event: FormEvent) {
    event.preventDefault();
    if (name.trim() === '' || capMistake !== undefined) return;
    const request: CreateKeyRequest = {
      name: name.trim(),
      scopes,
      expiry,
      ...(cap.trim() === '' ? {} : { weekly_spend_cap: Number(cap) }),
    };
    create.mutate(request, {
      onSuccess: (key) => {
        onClose();
        onCreated(key);
      },
    });
  }

  return (
    <form onSubmit={submit} noValidate>
      <Field
        label="Name"
        hint="So that you know it again: who uses it, and for what."
        placeholder="Claude Code on my laptop"
        maxLength={100}
        autoComplete="off"
        autoFocus
        error={nameMistake}
        value={name}
        onChange={(event) => {
          setName(event.target.value);
          create.reset();
        }}
      />
      <fieldset className="mt-4">
        <legend className="mb-1 font-medium">It may</legend>
        <div className="space-y-1.5">
          {scopeWords.map(({ scope, title, note }) => (
            <RadioCard
              key={scope}
              name="scope"
              checked={scopes === scope}
              title={title}
              note={note}
              onChange={() => setScopes(scope)}
            />
          ))}
        </div>
      </fieldset>
      <fieldset className="mt-4">
        <legend className="mb-1 font-medium">Expires after</legend>
        <div className="grid grid-cols-4 gap-1.5">
          {expiryWords.map((option) => (
            <RadioCard
              key={option.expiry}
              name="expiry"
              checked={expiry === option.expiry}
              title={option.title}
              onChange={() => setExpiry(option.expiry)}
            />
          ))}
        </div>
      </fieldset>
      <Field
        label="Weekly spend cap in US dollars"
        className="mt-4"
        placeholder="No cap"
        inputMode="decimal"
        autoComplete="off"
        error={capMistake}
        hint="Model costs of agent runs. Leave it empty for no cap."
        value={cap}
        onChange={(event) => setCap(event.target.value)}
      />
      {create.error !== null && nameMistake === undefined && (
        <p role="alert" className="mt-4 text-danger-text">
          {problemText(create.error)}
        </p>
      )}
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button
          type="submit"
          variant="primary"
          disabled={name.trim() === '' || capMistake !== undefined || create.isPending}
        >
          {create.isPending ? 'Creating…' : 'Create key'}
        </Button>
      </DialogActions>
    </form>
  );
}

function useCreateKey() {
  const { api } = usePanel();
  const cache = useQueryClient();
  return useMutation({
    mutationFn: (request: CreateKeyRequest) =>
      api.json<CreatedKey>('/api/account/api-keys', { method: 'POST', body: request }),
    onSuccess: () => cache.invalidateQueries({ queryKey: ['keys'] }),
  });
}

function capProblem(cap: string): string | undefined {
  if (cap.trim() === '') return undefined;
  const value = Number(cap);
  return Number.isFinite(value) && value >= 0 && value <= 1_000_000
    ? undefined
    : 'Enter an amount from 0 to 1,000,000.';
}

function fieldProblem(error: Error, field: string): string | undefined {
  return error instanceof ApiProblem ? error.fields.find((one) => one.path === field)?.message : undefined;
}
