import { useId, useState } from 'react';
import type { ImportedSecret } from '../../daemon/contract/secrets.ts';
import { problemText } from '../api/problem.ts';
import { Badge, type Tone } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { CheckBox } from '../ui/check-box.tsx';
import { DialogActions } from '../ui/dialog.tsx';
import { countWords } from '../ui/time-words.ts';

type ImportPreviewProps = {
  found: ImportedSecret[];
  call: { busy: boolean; error: Error | null };
  onSet: (names: string[]) => void;
  onBack: () => void;
};

/** What a `.env` would set, each with a box to leave it out. */
export function ImportPreview({ found, call, onSet, onBack }: ImportPreviewProps) {
  const settable = found.filter(changes).map(({ name }) => name);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(() => new Set(settable));
  const toggle = (name: string) =>
    setChosen((names) => {
      const next = new Set(names);
      if (!next.delete(name)) next.add(name);
      return next;
    });
  const all = chosen.size === settable.length;
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        onSet([...chosen]);
      }}
    >
      {found.length === 0 ? (
        <p className="rounded-lg border border-line py-8 text-center text-muted">
          There is no line of the form NAME=value in it.
        </p>
      ) : (
        <div className="overflow-hidden rounded-lg border border-line">
          <div className="flex h-9 items-center gap-3 border-b border-line bg-inset px-3 text-xs text-muted">
            <CheckBox
              checked={settable.length > 0 && all}
              mixed={!all && chosen.size > 0}
              disabled={settable.length === 0}
              label={all ? 'Choose none' : 'Choose all'}
              onChange={() => setChosen(new Set(all ? [] : settable))}
            />
            <span className="tabular-nums">{sumWords(found)}</span>
          </div>
          <ul aria-label="What would be set" className="max-h-[46vh] divide-y divide-line overflow-y-auto">
            {found.map((secret, index) => (
              <Found
                // biome-ignore lint/suspicious/noArrayIndexKey: a refused name may stand there twice
                key={`${index} ${secret.name}`}
                secret={secret}
                checked={changes(secret) && chosen.has(secret.name)}
                onToggle={() => toggle(secret.name)}
              />
            ))}
          </ul>
        </div>
      )}
      {call.error !== null && (
        <p role="alert" className="mt-3 text-danger-text">
          Nothing was set. {problemText(call.error)}
        </p>
      )}
      <DialogActions>
        <Button onClick={onBack}>Back</Button>
        <Button type="submit" variant="primary" autoFocus disabled={chosen.size === 0 || call.busy}>
          {call.busy ? 'Setting…' : `Set ${countWords(chosen.size, 'secret')}`}
        </Button>
      </DialogActions>
    </form>
  );
}

type FoundProps = { secret: ImportedSecret; checked: boolean; onToggle: () => void };

function Found({ secret, checked, onToggle }: FoundProps) {
  const { name, step, preview, detail } = secret;
  const id = useId();
  return (
    <li>
      <label htmlFor={id} className="flex min-h-9 items-center gap-3 px-3 py-1.5 has-enabled:hover:bg-hover">
        <CheckBox id={id} checked={checked} disabled={!changes(secret)} label={name} onChange={onToggle} />
        <span className="min-w-0 flex-1">
          <span className="block truncate font-mono text-xs" title={name}>
            {name}
          </span>
          {detail !== undefined && (
            <span
              className={`block text-xs ${step === 'refused' ? 'text-danger-text' : 'text-warning-text'}`}
            >
              {detail}
            </span>
          )}
        </span>
        <span className="max-w-[110px] shrink-0 truncate font-mono text-xs text-faint">{preview}</span>
        <span className="w-[84px] shrink-0 text-right">
          <Badge tone={stepTones[step]}>{stepWords[step]}</Badge>
        </span>
      </label>
    </li>
  );
}

function changes({ step }: ImportedSecret): boolean {
  return step === 'create' || step === 'update';
}

/** "2 new, 1 changed, 3 unchanged" */
function sumWords(found: ImportedSecret[]): string {
  return (['create', 'update', 'unchanged', 'refused'] as const)
    .map((step) => [found.filter((one) => one.step === step).length, stepWords[step].toLowerCase()] as const)
    .filter(([count]) => count > 0)
    .map(([count, word]) => `${count} ${word}`)
    .join(', ');
}

const stepWords: Record<ImportedSecret['step'], string> = {
  create: 'New',
  update: 'Changed',
  unchanged: 'Unchanged',
  refused: 'Refused',
};
const stepTones: Record<ImportedSecret['step'], Tone> = {
  create: 'success',
  update: 'accent',
  unchanged: 'neutral',
  refused: 'danger',
};
