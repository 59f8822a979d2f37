import { X } from 'lucide-react';
import { useState } from 'react';
import { toast } from 'sonner';
import type { RecentProject } from '../../daemon/contract/projects.ts';
import { problemText } from '../api/problem.ts';
import { Badge } from '../ui/badge.tsx';
import { Button, IconButton } from '../ui/button.tsx';
import { ConfirmDialog } from '../ui/confirm-dialog.tsx';
import { CopyIcon } from '../ui/copy-button.tsx';
import { agoWords, exactTime } from '../ui/time-words.ts';
import { useNow } from '../ui/use-now.ts';
import { loadProblemText } from './load-problem.ts';
import { ProjectMark } from './project-mark.tsx';
import { useForgetProject, useOpenProject } from './use-workspace.ts';

export function ProjectRow({ project, active }: { project: RecentProject; active: boolean }) {
  const now = useNow(30_000);
  const open = useOpenProject();
  return (
    <li className="group flex items-center gap-3 px-3 py-2.5 hover:bg-hover">
      <ProjectMark name={project.name} />
      <div className="min-w-0 flex-1">
        <div className="flex items-center gap-2">
          <span className="truncate font-medium">{project.name}</span>
          {active && <Badge tone="accent">Active</Badge>}
          {!project.available && <Badge tone="warning">Folder not found</Badge>}
        </div>
        <p className="truncate font-mono text-[11px] leading-4 text-faint" title={project.path}>
          {project.path}
        </p>
      </div>
      <time
        dateTime={project.last_opened_at}
        title={exactTime(project.last_opened_at)}
        className="shrink-0 text-xs text-faint tabular-nums"
      >
        {agoWords(project.last_opened_at, now)}
      </time>
      <div className="flex w-[132px] shrink-0 items-center justify-end gap-1">
        <CopyIcon text={project.path} label={`Copy the path of ${project.name}`} />
        {!active && (
          <Button
            small
            disabled={!project.available || open.isPending}
            aria-label={`Open ${project.name}`}
            onClick={() =>
              open.mutate(project.path, {
                onSuccess: () => toast.success(`Opened ${project.name}`),
                onError: (error) =>
                  toast.error(`Could not open ${project.name}`, { description: loadProblemText(error) }),
              })
            }
          >
            Open
          </Button>
        )}
        <ForgetButton project={project} />
      </div>
    </li>
  );
}

/**
 * Taking a workspace off the list can be undone by opening its folder again, so it asks nothing; where the folder is
 * not there it can't, so it asks.
 */
function ForgetButton({ project }: { project: RecentProject }) {
  const [asking, setAsking] = useState(false);
  const forget = useForgetProject();
  const reopen = useOpenProject();

  function forgetNow() {
    forget.mutate(project, {
      onSuccess: () =>
        toast(`${project.name} is off the list`, {
          description: 'Its folder and its records are untouched.',
          ...(project.available
            ? { action: { label: 'Undo', onClick: () => reopen.mutate(project.path) }, duration: 8000 }
            : {}),
        }),
      onError: (error) => toast.error('Could not remove it', { description: problemText(error) }),
    });
    setAsking(false);
  }

  return (
    <>
      <IconButton
        label={`Remove ${project.name} from the list`}
        onClick={() => (project.available ? forgetNow() : setAsking(true))}
      >
        <X />
      </IconButton>
      <ConfirmDialog
        open={asking}
        title={`Remove ${project.name} from the list?`}
        action="Remove"
        onConfirm={forgetNow}
        onClose={() => setAsking(false)}
      >
        <p>
          Its folder is not there now, so it can’t be opened again until it is back. Nothing on disk is
          deleted.
        </p>
      </ConfirmDialog>
    </>
  );
}
