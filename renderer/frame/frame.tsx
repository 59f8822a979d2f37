import { useEffect, useState } from 'react';
import { SecurityView } from '../account/security-view.tsx';
import { DaemonView } from '../daemon/daemon-view.tsx';
import { FilesView } from '../files/files-view.tsx';
import { useUnsavedGuard } from '../files/use-unsaved-guard.ts';
import { JobsView } from '../jobs/jobs-view.tsx';
import { KeysView } from '../keys/keys-view.tsx';
import { ReceiptsView } from '../receipts/receipts-view.tsx';
import { SecretsView } from '../secrets/secrets-view.tsx';
import { HostKeyDialog } from '../ssh/host-key-dialog.tsx';
import { HostsView } from '../ssh/hosts-view.tsx';
import { WorkspacesView } from '../workspaces/workspaces-view.tsx';
import { ConnectionBanner } from './connection-banner.tsx';
import { Palette } from './palette.tsx';
import { type Route, useRoute, type View } from './route.ts';
import { ShortcutsDialog } from './shortcuts-dialog.tsx';
import { Sidebar } from './sidebar.tsx';
import { StatusLine } from './status-line.tsx';
import { useShortcuts } from './use-shortcuts.ts';

export function Frame() {
  const route = useRoute();
  const { view } = route;
  useUnsavedGuard();
  useEffect(() => {
    document.title = `${viewTitles[view]} – Tallystick`;
  }, [view]);
  const [paletteOpen, setPaletteOpen] = useState(false);
  const [shortcutsOpen, setShortcutsOpen] = useState(false);
  useShortcuts({ onPalette: () => setPaletteOpen((open) => !open), onHelp: () => setShortcutsOpen(true) });
  return (
    <div className="grid h-full grid-cols-[auto_minmax(0,1fr)] grid-rows-[minmax(0,1fr)_auto]">
      <button
        type="button"
        onClick={() => document.getElementById('main')?.focus()}
        className="sr-only z-50 rounded-md bg-accent-fill px-3 py-2 text-on-accent focus:not-sr-only focus:absolute focus:top-2 focus:left-2"
      >
        Skip to content
      </button>
      <Sidebar view={view} onPalette={() => setPaletteOpen(true)} />
      <main id="main" tabIndex={-1} className="flex min-h-0 min-w-0 flex-col bg-surface outline-none">
        <ConnectionBanner />
        <div className="min-h-0 flex-1">{viewOf(route)}</div>
      </main>
      <StatusLine />
      <Palette
        open={paletteOpen}
        onClose={() => setPaletteOpen(false)}
        onHelp={() => setShortcutsOpen(true)}
      />
      <HostKeyDialog />
      <ShortcutsDialog open={shortcutsOpen} onClose={() => setShortcutsOpen(false)} />
    </div>
  );
}

const viewTitles: Record<View, string> = {
  workspaces: 'Workspaces',
  jobs: 'Jobs',
  files: 'Files',
  receipts: 'Receipts',
  hosts: 'SSH hosts',
  secrets: 'Secrets',
  keys: 'API keys',
  security: 'Security',
  daemon: 'Daemon',
};

function viewOf({ view, selected, options }: Route) {
  switch (view) {
    case 'workspaces':
      return <WorkspacesView />;
    case 'jobs':
      return <JobsView selected={selected} options={options} />;
    case 'files':
      return <FilesView selected={selected} options={options} />;
    case 'receipts':
      return <ReceiptsView selected={selected} options={options} />;
    case 'hosts':
      return <HostsView selected={selected} />;
    case 'secrets':
      return <SecretsView selected={selected} />;
    case 'keys':
      return <KeysView creating={selected === 'new'} />;
    case 'security':
      return <SecurityView selected={selected} />;
    case 'daemon':
      return <DaemonView />;
    default:
      return view satisfies never;
  }
}
