import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { applyEvent } from './api/apply-event.ts';
import { ApiClient } from './api/client.ts';
import { EventStream } from './api/event-stream.ts';
import { ApiProblem } from './api/problem.ts';
import { App } from './app.tsx';
import { OpenFiles } from './files/open-files.ts';
import { ThemeStore } from './frame/theme.ts';
import { notifyOfEnd } from './jobs/notify-of-end.ts';
import { LogPool } from './log/log-pool.ts';
import { type Panel, PanelContext } from './panel-context.ts';
import { SessionStore, takeTokenFromAddress } from './session/session-store.ts';
import { HostKeyQuestions } from './ssh/host-key-questions.ts';
import { WorkspaceChoice } from './workspaces/workspace-choice.ts';
import '@fontsource-variable/inter';
import '@fontsource-variable/jetbrains-mono';
import './styles/app.css';

const theme = new ThemeStore();
theme.apply();

const cache = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      networkMode: 'always',
      retry: (failures, error) => error instanceof ApiProblem && error.status === 0 && failures < 3,
    },
    mutations: { networkMode: 'always' },
  },
});

const session = new SessionStore();
const api = new ApiClient(session);
const panel: Panel = {
  api,
  session,
  events: new EventStream(api, (event) => {
    applyEvent(cache, event);
    notifyOfEnd(event);
  }),
  logs: new LogPool(),
  files: new OpenFiles(),
  hostKeys: new HostKeyQuestions(),
  theme,
  workspaceChoice: new WorkspaceChoice(),
};

// A sign-in link opened in a tab that already shows the panel changes the fragment only.
addEventListener('hashchange', () => {
  const token = takeTokenFromAddress();
  if (token !== undefined) void session.exchange(token);
});
void session.start();

const root = document.getElementById('root');
if (root === null) throw new Error('index.html has no #root');
createRoot(root).render(
  <StrictMode>
    <PanelContext value={panel}>
      <QueryClientProvider client={cache}>
        <App />
      </QueryClientProvider>
    </PanelContext>
  </StrictMode>,
);
