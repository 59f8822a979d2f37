import { createContext, useContext, useSyncExternalStore } from 'react';
import type { ApiClient } from './api/client.ts';
import type { ConnectionState, EventStream } from './api/event-stream.ts';
import type { OpenFiles } from './files/open-files.ts';
import type { Theme, ThemeStore } from './frame/theme.ts';
import type { LogPool } from './log/log-pool.ts';
import type { SessionStore } from './session/session-store.ts';
import type { HostKeyQuestions } from './ssh/host-key-questions.ts';
import type { WorkspaceChoice } from './workspaces/workspace-choice.ts';

/** What lives as long as the page. */
export type Panel = {
  api: ApiClient;
  session: SessionStore;
  events: EventStream;
  logs: LogPool;
  files: OpenFiles;
  hostKeys: HostKeyQuestions;
  theme: ThemeStore;
  workspaceChoice: WorkspaceChoice;
};

export const PanelContext = createContext<Panel | undefined>(undefined);

export function usePanel(): Panel {
  const panel = useContext(PanelContext);
  if (panel === undefined) throw new Error('usePanel needs a PanelContext above it');
  return panel;
}

export function useConnection(): ConnectionState {
  const { events } = usePanel();
  return useSyncExternalStore(events.subscribe, events.snapshot);
}

export function useTheme(): Theme {
  const { theme } = usePanel();
  return useSyncExternalStore(theme.subscribe, theme.snapshot);
}
