import {
  Activity,
  Command,
  Files,
  FolderGit2,
  KeyRound,
  LockKeyhole,
  type LucideIcon,
  Monitor,
  Moon,
  ReceiptText,
  Server,
  Shield,
  SquareTerminal,
  Sun,
} from 'lucide-react';
import { useSyncExternalStore } from 'react';
import { usePanel, useTheme } from '../panel-context.ts';
import { IconButton } from '../ui/button.tsx';
import { classNames } from '../ui/class-names.ts';
import { commandKey, Kbd } from '../ui/kbd.tsx';
import { countWords } from '../ui/time-words.ts';
import { WorkspaceSwitcher } from '../workspaces/workspace-switcher.tsx';
import type { View } from './route.ts';
import { type Theme, themes } from './theme.ts';

export function Sidebar({ view, onPalette }: { view: View; onPalette: () => void }) {
  return (
    <div className="flex w-[52px] flex-col border-r border-line bg-canvas p-2 min-[1040px]:w-[216px]">
      <WorkspaceSwitcher />
      <nav aria-label="Views" className="mt-2 flex flex-col gap-px">
        {entries.map(({ name, label, icon: Icon }) => (
          <a
            key={name}
            href={`#/${name}`}
            title={label}
            aria-current={view === name ? 'page' : undefined}
            className={classNames(
              'flex h-8 items-center gap-2.5 rounded-md px-2.5 font-medium',
              view === name ? 'bg-selected text-text' : 'text-muted hover:bg-hover hover:text-text',
            )}
          >
            <Icon className="size-4 shrink-0" aria-hidden />
            <span className="max-[1039px]:sr-only">{label}</span>
            {name === 'files' && <UnsavedMark />}
          </a>
        ))}
      </nav>
      <div className="mt-auto flex flex-col items-center gap-1 min-[1040px]:flex-row">
        <button
          type="button"
          onClick={onPalette}
          aria-label="Command palette"
          title="Command palette"
          className="flex h-7 min-w-7 flex-1 items-center gap-2 rounded-md px-1.5 text-muted hover:bg-hover hover:text-text min-[1040px]:px-2.5"
        >
          <Command className="size-4 shrink-0" aria-hidden />
          <span className="max-[1039px]:hidden">Commands</span>
          <span className="ml-auto flex gap-0.5 max-[1039px]:hidden">
            <Kbd>{commandKey()}</Kbd>
            <Kbd>K</Kbd>
          </span>
        </button>
        <ThemeButton />
      </div>
    </div>
  );
}

const entries: { name: View; label: string; icon: LucideIcon }[] = [
  { name: 'workspaces', label: 'Workspaces', icon: FolderGit2 },
  { name: 'jobs', label: 'Jobs', icon: SquareTerminal },
  { name: 'files', label: 'Files', icon: Files },
  { name: 'receipts', label: 'Receipts', icon: ReceiptText },
  { name: 'hosts', label: 'SSH hosts', icon: Server },
  { name: 'secrets', label: 'Secrets', icon: LockKeyhole },
  { name: 'keys', label: 'API keys', icon: KeyRound },
  { name: 'security', label: 'Security', icon: Shield },
  { name: 'daemon', label: 'Daemon', icon: Activity },
];

function UnsavedMark() {
  const { files } = usePanel();
  const count = useSyncExternalStore(files.subscribe, files.dirty).length;
  if (count === 0) return null;
  return (
    <span
      title={`${countWords(count, 'file')} with unsaved changes`}
      className="ml-auto size-2 shrink-0 rounded-full bg-accent"
    />
  );
}

function ThemeButton() {
  const { theme: store } = usePanel();
  const theme = useTheme();
  const Icon = themeIcons[theme];
  const next = themes[(themes.indexOf(theme) + 1) % themes.length] ?? 'system';
  return (
    <IconButton label={`Theme: ${theme}. Change to ${next}`} onClick={() => store.set(next)}>
      <Icon />
    </IconButton>
  );
}

const themeIcons: Record<Theme, LucideIcon> = { system: Monitor, light: Sun, dark: Moon };
