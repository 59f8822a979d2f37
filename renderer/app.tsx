import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useSyncExternalStore } from 'react';
import { Toaster } from 'sonner';
import { Frame } from './frame/frame.tsx';
import { usePanel, useTheme } from './panel-context.ts';
import { SignIn } from './session/sign-in.tsx';

export function App() {
  const { session } = usePanel();
  const theme = useTheme();
  const state = useSyncExternalStore(session.subscribe, session.snapshot);
  return (
    <>
      {state.status === 'signed-in' && <SignedIn key={state.token} />}
      {state.status === 'signed-out' && <SignIn session={session} state={state} />}
      {state.status === 'signing-in' && (
        <p role="status" className="grid h-full place-items-center text-muted">
          Signing in…
        </p>
      )}
      <Toaster theme={theme} position="bottom-right" offset={{ bottom: 36, right: 16 }} gap={8} />
    </>
  );
}

/** Everything that needs a session, and what ends with it: events, open logs, what was fetched. */
function SignedIn() {
  const { events, logs, hostKeys } = usePanel();
  const cache = useQueryClient();
  useEffect(() => {
    events.open();
    return () => {
      events.close();
      logs.closeAll();
      hostKeys.close();
      cache.clear();
    };
  }, [events, logs, hostKeys, cache]);
  return <Frame />;
}
