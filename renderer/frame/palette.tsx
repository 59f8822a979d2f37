import { useQuery } from '@tanstack/react-query';
import { Command } from 'cmdk';
import {
  Activity,
  ClipboardPaste,
  FilePlus2,
  Files,
  FolderGit2,
  FolderOpen,
  Keyboard,
  KeyRound,
  LockKeyhole,
  LogOut,
  type LucideIcon,
  Play,
  Plus,
  ReceiptText,
  RefreshCw,
  RotateCcw,
  ScrollText,
  Server,
  Shield,
  ShieldCheck,
  SquareTerminal,
  SunMoon,
} from 'lucide-react';
import { Dialog as RadixDialog } from 'radix-ui';
import { type ReactNode, useRef, useState } from 'react';
import { toast } from 'sonner';
import { problemText } from '../api/problem.ts';
import { queries } from '../api/queries.ts';
import { distinctCommands } from '../jobs/job-entries.ts';
import { commandAgain, useRunCommand } from '../jobs/use-run-command.ts';
import { usePanel } from '../panel-context.ts';
import { addressWords } from '../ssh/host-words.ts';
import { Kbd } from '../ui/kbd.tsx';
import { useOpenProject, useWorkspace } from '../workspaces/use-workspace.ts';
import { goTo } from './route.ts';
import { focusRunBar } from './use-shortcuts.ts';
import { useSignOut } from './use-sign-out.ts';

type PaletteProps = { open: boolean; onClose: () => void; onHelp: () => void };

/** Everything the panel can do, by name. */
export function Palette({ open, onClose, onHelp }: PaletteProps) {
  const acted = useRef(false);
  return (
    <RadixDialog.Root open={open} onOpenChange={(next) => !next && onClose()}>
      <RadixDialog.Portal>
        <RadixDialog.Overlay className="fixed inset-0 z-40 animate-fade bg-overlay" />
        <RadixDialog.Content
          aria-describedby={undefined}
          // Where an action moved the focus, it must not go back to where it was before.
          onCloseAutoFocus={(event) => acted.current && event.preventDefault()}
          onOpenAutoFocus={() => {
            acted.current = false;
          }}
          className="fixed top-[14vh] left-1/2 z-50 w-[calc(100vw-32px)] max-w-[560px] -translate-x-1/2 animate-appear overflow-hidden rounded-xl border border-line-strong bg-raised shadow-raised outline-none"
        >
          <RadixDialog.Title className="sr-only">Command palette</RadixDialog.Title>
          <PaletteBody
            onHelp={onHelp}
            act={(action) => () => {
              acted.current = true;
              onClose();
              action();
            }}
          />
        </RadixDialog.Content>
      </RadixDialog.Portal>
    </RadixDialog.Root>
  );
}

function PaletteBody({ act, onHelp }: { act: Act; onHelp: () => void }) {
  const { theme } = usePanel();
  const [query, setQuery] = useState('');
  const signOut = useSignOut();
  return (
    <Command label="Command palette" loop>
      <Command.Input
        value={query}
        onValueChange={setQuery}
        placeholder="Type a command or search…"
        className="h-11 w-full border-b border-line bg-transparent px-4 text-base outline-none"
      />
      <Command.List className="max-h-[min(400px,56vh)] scroll-py-1 overflow-y-auto p-1.5">
        <Group heading="Go to">
          <Entry icon={FolderGit2} keys={['G', 'W']} onSelect={act(() => goTo('workspaces'))}>
            Workspaces
          </Entry>
          <Entry icon={SquareTerminal} keys={['G', 'J']} onSelect={act(() => goTo('jobs'))}>
            Jobs
          </Entry>
          <Entry icon={Files} keys={['G', 'F']} onSelect={act(() => goTo('files'))}>
            Files
          </Entry>
          <Entry icon={ReceiptText} keys={['G', 'R']} onSelect={act(() => goTo('receipts'))}>
            Receipts
          </Entry>
          <Entry icon={Server} keys={['G', 'H']} onSelect={act(() => goTo('hosts'))}>
            SSH hosts
          </Entry>
          <Entry icon={LockKeyhole} keys={['G', 'S']} onSelect={act(() => goTo('secrets'))}>
            Secrets
          </Entry>
          <Entry icon={KeyRound} keys={['G', 'K']} onSelect={act(() => goTo('keys'))}>
            API keys
          </Entry>
          <Entry icon={Shield} keys={['G', 'M']} onSelect={act(() => goTo('security'))}>
            Security
          </Entry>
          <Entry icon={Activity} keys={['G', 'D']} onSelect={act(() => goTo('daemon'))}>
            Daemon
          </Entry>
        </Group>
        <Group heading="Actions">
          <Entry icon={Play} keys={['R']} onSelect={act(() => focusRunBar())}>
            Run command…
          </Entry>
          <Entry icon={FilePlus2} onSelect={act(() => goTo('files', undefined, { new: 'file' }))}>
            New file…
          </Entry>
          <Entry icon={ShieldCheck} onSelect={act(() => goTo('receipts', undefined, { verify: 'chain' }))}>
            Verify the chain of receipts
          </Entry>
          <Entry icon={LockKeyhole} onSelect={act(() => goTo('secrets', 'new'))}>
            Add secret…
          </Entry>
          <Entry icon={ClipboardPaste} onSelect={act(() => goTo('secrets', 'import'))}>
            Paste .env into secrets…
          </Entry>
          <Entry icon={RefreshCw} onSelect={act(() => goTo('security', 'rotate'))}>
            Rotate master key…
          </Entry>
          <Entry icon={ScrollText} onSelect={act(() => goTo('security', 'audit-log'))}>
            Audit log
          </Entry>
          <Entry icon={Plus} keys={['N']} onSelect={act(() => goTo('keys', 'new'))}>
            Create API key…
          </Entry>
          <Entry icon={FolderOpen} onSelect={act(() => goTo('workspaces'))}>
            Open folder…
          </Entry>
          <Entry icon={SunMoon} onSelect={act(() => theme.toggle())}>
            Toggle light and dark theme
          </Entry>
          <Entry icon={Keyboard} keys={['?']} onSelect={act(onHelp)}>
            Keyboard shortcuts
          </Entry>
          <Entry icon={LogOut} onSelect={act(signOut)}>
            Sign out
          </Entry>
        </Group>
        <WorkspaceEntries act={act} />
        <HostEntries act={act} searched={query.trim() !== ''} />
        <CommandEntries act={act} query={query.trim()} />
      </Command.List>
    </Command>
  );
}

type Act = (action: () => void) => () => void;

function WorkspaceEntries({ act }: { act: Act }) {
  const { api } = usePanel();
  const current = useWorkspace();
  const open = useOpenProject();
  const projects = useQuery(queries.projects(api)).data ?? [];
  const others = projects.filter((project) => project.available && project.ws_id !== current?.ws_id);
  if (others.length === 0) return null;
  const switchTo = (path: string) =>
    open.mutate(path, {
      onError: (error) => toast.error('Could not open it', { description: problemText(error) }),
    });
  return (
    <Group heading="Switch workspace">
      {others.map((project) => (
        <Entry
          key={project.ws_id}
          icon={FolderGit2}
          value={`switch workspace ${project.name} ${project.path}`}
          note={project.path}
          onSelect={act(() => switchTo(project.path))}
        >
          {project.name}
        </Entry>
      ))}
    </Group>
  );
}

/** There may be hundreds: a few are shown, all are found. */
function HostEntries({ act, searched }: { act: Act; searched: boolean }) {
  const { api } = usePanel();
  const hosts = useQuery(queries.sshHosts(api)).data ?? [];
  if (hosts.length === 0) return null;
  return (
    <Group heading="SSH hosts">
      {hosts.slice(0, searched ? undefined : hostsUnasked).map((one) => (
        <Entry
          key={one.host}
          icon={Server}
          value={`ssh host ${one.host} ${one.hostname}`}
          note={addressWords(one)}
          onSelect={act(() => goTo('hosts', one.host))}
        >
          {one.host}
        </Entry>
      ))}
    </Group>
  );
}

const hostsUnasked = 5;

function CommandEntries({ act, query }: { act: Act; query: string }) {
  const { api } = usePanel();
  const workspace = useWorkspace();
  const run = useRunCommand();
  const recent = useQuery({
    ...queries.recent(api, workspace?.ws_id ?? ''),
    enabled: workspace !== undefined,
  }).data;
  if (workspace === undefined)
    return <Command.Empty className="py-8 text-center text-muted">Nothing found</Command.Empty>;
  return (
    <>
      <Group heading="Run again">
        {distinctCommands(recent ?? [], 8).map(({ cmd, cwd, host, job_id }) => (
          <Entry
            key={job_id}
            icon={RotateCcw}
            value={`run again ${cmd} ${job_id}`}
            note={host === undefined ? (cwd === '.' ? undefined : cwd) : `on ${host}`}
            mono
            onSelect={act(() => run.mutate(commandAgain({ cmd, cwd, host })))}
          >
            {cmd}
          </Entry>
        ))}
      </Group>
      {query !== '' && (
        <Group heading={`Run in ${workspace.name}`} always>
          <Entry
            icon={Play}
            value={`run new ${query}`}
            mono
            always
            onSelect={act(() => run.mutate({ cmd: query }))}
          >
            {query}
          </Entry>
        </Group>
      )}
    </>
  );
}

function Group({
  heading,
  always = false,
  children,
}: {
  heading: string;
  always?: boolean;
  children: ReactNode;
}) {
  return (
    <Command.Group
      heading={heading}
      forceMount={always}
      className="[&_[cmdk-group-heading]]:px-2.5 [&_[cmdk-group-heading]]:pt-2 [&_[cmdk-group-heading]]:pb-1 [&_[cmdk-group-heading]]:text-xs [&_[cmdk-group-heading]]:text-faint"
    >
      {children}
    </Command.Group>
  );
}

type EntryProps = {
  icon: LucideIcon;
  children: string;
  value?: string;
  note?: string | undefined;
  keys?: string[];
  mono?: boolean;
  always?: boolean;
  onSelect: () => void;
};

function Entry({
  icon: Icon,
  children,
  value,
  note,
  keys = [],
  mono = false,
  always = false,
  onSelect,
}: EntryProps) {
  return (
    <Command.Item
      value={value ?? children}
      forceMount={always}
      onSelect={onSelect}
      className="flex h-9 items-center gap-2.5 rounded-md px-2.5 data-[selected=true]:bg-selected"
    >
      <Icon className="size-4 shrink-0 text-muted" aria-hidden />
      <span className={mono ? 'truncate font-mono text-xs' : 'shrink-0 whitespace-nowrap'}>{children}</span>
      <span className="min-w-0 flex-1 truncate text-right text-xs text-faint">{note}</span>
      {keys.map((key) => (
        <Kbd key={key} className="-ml-1.5">
          {key}
        </Kbd>
      ))}
    </Command.Item>
  );
}
