import { useQuery } from '@tanstack/react-query';
import { Check, ChevronsUpDown, FolderOpen } from 'lucide-react';
import { toast } from 'sonner';
import { problemText } from '../api/problem.ts';
import { queries } from '../api/queries.ts';
import { goTo } from '../frame/route.ts';
import { usePanel } from '../panel-context.ts';
import { Menu, MenuItem, MenuLabel, MenuSeparator } from '../ui/menu.tsx';
import { ProjectMark } from './project-mark.tsx';
import { useOpenProject, useWorkspace } from './use-workspace.ts';

/** Names the workspace that this tab looks at and changes to another. */
export function WorkspaceSwitcher() {
  const { api } = usePanel();
  const current = useWorkspace();
  const projects = useQuery(queries.projects(api)).data ?? [];
  const open = useOpenProject();
  const switchTo = (path: string) =>
    open.mutate(path, {
      onError: (error) => toast.error('Could not open it', { description: problemText(error) }),
    });
  return (
    <Menu
      align="start"
      trigger={
        <button
          type="button"
          aria-label={`Workspace: ${current?.name ?? 'none'}. Switch`}
          className="flex h-9 w-full items-center gap-2.5 rounded-md px-1.5 text-left hover:bg-hover data-[state=open]:bg-selected"
        >
          <ProjectMark name={current?.name} />
          <span className="min-w-0 flex-1 truncate font-semibold max-[1039px]:hidden">
            {current?.name ?? 'No workspace'}
          </span>
          <ChevronsUpDown className="size-3.5 shrink-0 text-faint max-[1039px]:hidden" aria-hidden />
        </button>
      }
    >
      {projects.length > 0 && <MenuLabel>Switch workspace</MenuLabel>}
      {projects.map((project) => (
        <MenuItem
          key={project.ws_id}
          icon={<ProjectMark name={project.name} small />}
          disabled={!project.available}
          hint={
            project.ws_id === current?.ws_id && <Check className="size-4 text-accent" aria-label="current" />
          }
          onSelect={() => switchTo(project.path)}
        >
          {project.name}
        </MenuItem>
      ))}
      {projects.length > 0 && <MenuSeparator />}
      <MenuItem icon={<FolderOpen />} onSelect={() => goTo('workspaces')}>
        Open another folder…
      </MenuItem>
    </Menu>
  );
}
