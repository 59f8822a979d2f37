import { useQuery } from '@tanstack/react-query';
import { ChevronDown } from 'lucide-react';
import { queries } from '../api/queries.ts';
import { usePanel } from '../panel-context.ts';
import { Button } from '../ui/button.tsx';
import { Menu, MenuCheck, MenuLabel } from '../ui/menu.tsx';
import { useWorkspace } from '../workspaces/use-workspace.ts';

type SecretsChoiceProps = { chosen: string[]; onChange: (names: string[]) => void };

/** Which of the workspace's secrets a command on another host gets: none, unless they are named. */
export function SecretsChoice({ chosen, onChange }: SecretsChoiceProps) {
  const { api } = usePanel();
  const workspace = useWorkspace();
  const { data, error } = useQuery({
    ...queries.secrets(api, workspace?.ws_id ?? ''),
    enabled: workspace !== undefined,
  });
  const toggle = (name: string) =>
    onChange(chosen.includes(name) ? chosen.filter((one) => one !== name) : [...chosen, name]);
  return (
    <Menu
      align="start"
      trigger={
        <Button small>
          {wordsFor(chosen)}
          <ChevronDown className="size-3.5 text-muted" aria-hidden />
        </Button>
      }
    >
      <MenuLabel>
        {data === undefined || data.length === 0
          ? error === null
            ? 'This workspace has no secrets'
            : 'The secrets can’t be opened now'
          : 'Sent to the host for this command'}
      </MenuLabel>
      {(data ?? []).map(({ name }) => (
        <MenuCheck key={name} checked={chosen.includes(name)} keepOpen onChange={() => toggle(name)}>
          <span className="font-mono text-xs">{name}</span>
        </MenuCheck>
      ))}
    </Menu>
  );
}

function wordsFor(chosen: string[]): string {
  const [first = 'none'] = chosen;
  return `Secrets: ${chosen.length > 1 ? chosen.length : first}`;
}
