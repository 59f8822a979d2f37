import { usePanel } from '../panel-context.ts';

/** Ends the session on both sides; where the daemon can't be told, this tab forgets it all the same. */
export function useSignOut(): () => void {
  const { api, session } = usePanel();
  return () => {
    const leave = () => session.leave();
    api.send('/api/session', { method: 'DELETE' }).then(leave, leave);
  };
}
