import { type FormEvent, useState } from 'react';
import { isOtherContent, problemText } from '../api/problem.ts';
import { Button } from '../ui/button.tsx';
import { Dialog, DialogActions } from '../ui/dialog.tsx';
import { Field } from '../ui/field.tsx';

type PathDialogProps = {
  open: boolean;
  title: string;
  action: string;
  initial: string;
  busy: boolean;
  error: Error | null;
  onSubmit: (path: string) => void;
  onClose: () => void;
};

/** Asks for the path of a file. */
export function PathDialog({ open, title, onClose, ...form }: PathDialogProps) {
  return (
    <Dialog open={open} onClose={onClose} title={title}>
      <PathForm {...form} onClose={onClose} />
    </Dialog>
  );
}

function PathForm(props: Omit<PathDialogProps, 'open' | 'title'>) {
  const { action, initial, busy, error, onSubmit, onClose } = props;
  const [path, setPath] = useState(initial);
  const wanted = path.trim().replace(/^\/+/, '');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (wanted !== '' && !wanted.endsWith('/')) onSubmit(wanted);
  };
  return (
    <form onSubmit={submit} noValidate>
      <Field
        autoFocus
        label="Path in the workspace"
        inputClassName="font-mono text-xs!"
        autoComplete="off"
        autoCapitalize="off"
        spellCheck={false}
        placeholder="src/notes.md"
        value={path}
        error={error === null ? undefined : isOtherContent(error) ? taken : problemText(error)}
        hint="Folders that are missing are made."
        // The name is what is usually changed, not the folder.
        onFocus={({ target }) => target.setSelectionRange(initial.lastIndexOf('/') + 1, target.value.length)}
        onChange={(event) => setPath(event.target.value)}
      />
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" variant="primary" disabled={busy || wanted === '' || wanted.endsWith('/')}>
          {action}
        </Button>
      </DialogActions>
    </form>
  );
}

const taken = 'There is a file with this name already.';
