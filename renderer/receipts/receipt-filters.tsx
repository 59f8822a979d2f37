import { Link2, ShieldCheck, X } from 'lucide-react';
import { useState } from 'react';
import type { RecentProject } from '../../daemon/contract/projects.ts';
import type { Tool } from '../../daemon/contract/receipts.ts';
import { Button, IconButton } from '../ui/button.tsx';
import { inputClasses } from '../ui/field.tsx';
import { FilterField } from '../ui/filter-field.tsx';
import { ChainHeadDialog } from './chain-head-dialog.tsx';
import { toolWords } from './receipt-words.ts';
import type { Who } from './use-receipts.ts';

type ReceiptFiltersProps = {
  workspace: RecentProject;
  path: string;
  onPath: (path: string) => void;
  tool: Tool | undefined;
  onTool: (tool: Tool | undefined) => void;
  who: Who;
  onWho: (who: Who) => void;
  runId: string | null;
  onAllRuns: () => void;
  verifying: boolean;
  onVerify: () => void;
};

/** What of the chain is shown, and what can be done with all of it. */
export function ReceiptFilters(props: ReceiptFiltersProps) {
  const [headOpen, setHeadOpen] = useState(false);
  return (
    <div className="flex flex-wrap items-center gap-2 border-b border-line px-4 py-3">
      <FilterField
        className="min-w-[140px] flex-1 min-[1040px]:max-w-[260px]"
        label="Filter by path"
        value={props.path}
        onChange={props.onPath}
      />
      <select
        aria-label="Kind of change"
        className={`${inputClasses} w-auto!`}
        value={props.tool ?? ''}
        onChange={({ target }) => props.onTool(tools.find((tool) => tool === target.value))}
      >
        <option value="">All changes</option>
        {tools.map((tool) => (
          <option key={tool} value={tool}>
            {toolWords[tool]}
          </option>
        ))}
      </select>
      <WhoFilter who={props.who} onWho={props.onWho} />
      {props.runId !== null && (
        <span className="inline-flex h-7 items-center gap-1 rounded-md bg-selected pl-2 font-mono text-xs">
          {props.runId}
          <IconButton label="Show all runs" onClick={props.onAllRuns}>
            <X />
          </IconButton>
        </span>
      )}
      <span className="ml-auto flex gap-2">
        <Button onClick={() => setHeadOpen(true)}>
          <Link2 className="size-4" aria-hidden />
          Chain head
        </Button>
        <Button disabled={props.verifying} onClick={props.onVerify}>
          <ShieldCheck className="size-4" aria-hidden />
          {props.verifying ? 'Verifying…' : 'Verify chain'}
        </Button>
      </span>
      <ChainHeadDialog workspace={props.workspace} open={headOpen} onClose={() => setHeadOpen(false)} />
    </div>
  );
}

const tools: Tool[] = [
  'shell.run',
  'ssh.run',
  'ssh.pull',
  'file.write',
  'file.edit',
  'file.move',
  'file.delete',
  'rollback',
  'secret.set',
  'secret.delete',
  'secret.import',
  'secret.recover',
  'secret.rotate',
];

function WhoFilter({ who, onWho }: { who: Who; onWho: (who: Who) => void }) {
  return (
    <fieldset className="flex h-8 rounded-md border border-line-strong p-0.5">
      <legend className="sr-only">Made by</legend>
      {whoWords.map(([name, label]) => (
        <label
          key={name}
          className="relative flex items-center rounded px-2 text-xs font-medium text-muted hover:text-text has-checked:bg-selected has-checked:text-text has-focus-visible:outline-2 has-focus-visible:outline-accent"
        >
          <input
            type="radio"
            name="made-by"
            checked={who === name}
            onChange={() => onWho(name)}
            className="absolute inset-0 appearance-none outline-none"
          />
          {label}
        </label>
      ))}
    </fieldset>
  );
}

const whoWords: [Who, string][] = [
  ['anyone', 'Anyone'],
  ['you', 'You'],
  ['agents', 'Agents'],
];
