import { useMemo, useSyncExternalStore } from 'react';
import type { LogClient, LogSnapshot } from '../log/log-client.ts';
import { usePanel } from '../panel-context.ts';

/** The log of a job, which goes on being read while others are looked at. */
export function useLog(jobId: string, workspaceId: string): [LogClient, LogSnapshot] {
  const { logs, session } = usePanel();
  const client = useMemo(
    () => logs.open({ jobId, workspaceId, token: session.token() ?? '', baseUrl: location.origin }),
    [logs, session, jobId, workspaceId],
  );
  return [client, useSyncExternalStore(client.subscribe, client.snapshot)];
}
