import { RotateCw } from 'lucide-react';
import { type KeyboardEvent, useState } from 'react';
import type { SshHost } from '../../daemon/contract/ssh.ts';
import type { JobEntry } from '../jobs/job-entries.ts';
import { Button, IconButton } from '../ui/button.tsx';
import { FilterField } from '../ui/filter-field.tsx';
import { countWords } from '../ui/time-words.ts';
import { HostItem } from './host-item.tsx';

type HostListProps = {
  hosts: SshHost[];
  /** What runs on any of them. */
  running: JobEntry[];
  selected: string | undefined;
  refreshing: boolean;
  onRefresh: () => void;
  onSelect: (host: string) => void;
};

/** Every host of the configuration, those that can't be used greyed. Arrow keys move through it. */
export function HostList({ hosts, running, selected, refreshing, onRefresh, onSelect }: HostListProps) {
  const [text, setText] = useState('');
  const wanted = text.trim().toLowerCase();
  const found = hosts.filter(({ host, hostname, user }) =>
    `${host}\n${user}@${hostname}`.toLowerCase().includes(wanted),
  );
  return (
    <div className="flex min-h-0 flex-col border-r border-line">
      <header className="flex shrink-0 items-center gap-2 px-4 pt-3 pb-1">
        <h1 className="font-semibold">SSH hosts</h1>
        <span role="status" className="text-xs text-faint tabular-nums">
          {wanted === '' ? hosts.length.toLocaleString('en') : `${found.length} of ${hosts.length}`}
        </span>
        <IconButton
          label="Read the SSH configuration again"
          className="-mr-2 ml-auto"
          disabled={refreshing}
          onClick={onRefresh}
        >
          <RotateCw />
        </IconButton>
      </header>
      {hosts.length >= filterFrom && (
        <FilterField
          className="mx-4 mt-1 mb-1 shrink-0"
          label="Filter hosts"
          value={text}
          onChange={setText}
        />
      )}
      {found.length === 0 ? (
        <div className="flex flex-col items-center gap-3 px-4 py-8 text-center text-muted">
          <p>No host matches.</p>
          <Button small onClick={() => setText('')}>
            Clear filter
          </Button>
        </div>
      ) : (
        <nav aria-label="SSH hosts" onKeyDown={moveFocus} className="min-h-0 flex-1 overflow-y-auto p-2">
          {found.map((host) => (
            <HostItem
              key={host.host}
              host={host}
              running={countOn(running, host.host)}
              selected={host.host === selected}
              onSelect={onSelect}
            />
          ))}
        </nav>
      )}
    </div>
  );
}

const filterFrom = 8;

function countOn(running: JobEntry[], host: string): string | undefined {
  const count = running.filter((job) => job.host === host).length;
  return count === 0 ? undefined : countWords(count, 'command');
}

function moveFocus(event: KeyboardEvent<HTMLElement>): void {
  const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
  if (step === 0) return;
  event.preventDefault();
  const buttons = [...event.currentTarget.querySelectorAll('button')];
  const at = buttons.findIndex((button) => button.contains(document.activeElement));
  const next = buttons[Math.max(0, Math.min(buttons.length - 1, at + step))];
  next?.focus();
  next?.click();
}
