import { useMutation, useQueryClient } from '@tanstack/react-query';
import { toast } from 'sonner';
import type { RunRequest } from '../../daemon/contract/shell.ts';
import { problemText } from '../api/problem.ts';
import { goTo } from '../frame/route.ts';
import { usePanel } from '../panel-context.ts';
import { useWorkspace } from '../workspaces/use-workspace.ts';
import { needsSecrets, needsSecretsWords } from './needs-secrets.ts';

/** Runs a command in this tab's workspace and shows it. */
export function useRunCommand(options: { quiet?: boolean } = {}) {
  const { api } = usePanel();
  const workspace = useWorkspace();
  const cache = useQueryClient();
  const run = useMutation({
    mutationFn: async (request: RunRequest) => {
      if (workspace === undefined) throw new Error('Open a workspace first');
      const response = await api.open('/api/shell/run', {
        method: 'POST',
        body: request,
        workspaceId: workspace.ws_id,
        headers: { Accept: 'text/event-stream' },
      });
      // The job goes on without this stream; the log reads a lossy one, which never slows the command down.
      await response.body?.cancel();
      return response.headers.get('X-Job-Id') ?? '';
    },
    onSuccess: async (jobId) => {
      await Promise.all([
        cache.invalidateQueries({ queryKey: ['jobs', workspace?.ws_id] }),
        cache.invalidateQueries({ queryKey: ['recent', workspace?.ws_id] }),
      ]);
      goTo('jobs', jobId);
    },
    onError: (error, request) => {
      if (options.quiet === true) return;
      const without = { label: 'Run without', onClick: () => run.mutate({ ...request, secrets: [] }) };
      toast.error('The command did not start', {
        description: needsSecrets(error) ? needsSecretsWords : problemText(error),
        ...(needsSecrets(error) ? { action: without } : {}),
      });
    },
  });
  return run;
}
