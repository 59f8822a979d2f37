import { FolderOpen } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import { toast } from 'sonner';
import { desktopBridge } from '../desktop-bridge.ts';
import { Button } from '../ui/button.tsx';
import { Field } from '../ui/field.tsx';
import { loadProblemText } from './load-problem.ts';
import { useOpenProject } from './use-workspace.ts';

/** Opens a folder by its path, or with the desktop's folder dialog. */
export function OpenForm() {
  const [path, setPath] = useState('');
  const open = useOpenProject();
  const bridge = desktopBridge();

  function openPath(chosen: string) {
    open.mutate(chosen, {
      onSuccess: (project) => {
        setPath('');
        toast.success(`Opened ${project.name}`);
      },
    });
  }

  function submit(event: FormEvent) {
    event.preventDefault();
    if (path.trim() !== '') openPath(path.trim());
  }

  async function choose() {
    const chosen = await bridge?.chooseFolder();
    if (typeof chosen !== 'string') return;
    setPath(chosen);
    openPath(chosen);
  }

  return (
    <form onSubmit={submit} className="flex items-start gap-2" noValidate>
      <Field
        label="Path of a project folder"
        hideLabel
        className="flex-1"
        inputClassName="font-mono text-xs"
        placeholder={examplePath()}
        autoComplete="off"
        spellCheck={false}
        error={open.error === null ? undefined : loadProblemText(open.error)}
        value={path}
        onChange={(event) => {
          setPath(event.target.value);
          open.reset();
        }}
      />
      <Button type="submit" variant="primary" disabled={open.isPending || path.trim() === ''}>
        {open.isPending ? 'Opening…' : 'Open'}
      </Button>
      {bridge !== undefined && (
        <Button onClick={() => void choose()}>
          <FolderOpen className="size-4" aria-hidden />
          Choose folder…
        </Button>
      )}
    </form>
  );
}

function examplePath(): string {
  if (/win/i.test(navigator.platform)) return 'C:\\Users\\you\\projects\\my-app';
  return /mac/i.test(navigator.platform) ? '/Users/you/projects/my-app' : '/home/you/projects/my-app';
}
