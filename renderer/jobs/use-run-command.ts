import { useMutation, useQueryClient } from '@tanstack/react-query';
import { toast } from 'sonner';
import type { RunRequest } from '../../daemon/contract/shell.ts';
import type { SshRunRequest } from '../../daemon/contract/ssh.ts';
import { problemText } from '../api/problem.ts';
import { goTo } from '../frame/route.ts';
import { usePanel } from '../panel-context.ts';
import { hostKeyProblem } from '../ssh/host-key-problem.ts';
import { useWorkspace } from '../workspaces/use-workspace.ts';
import { needsSecrets, needsSecretsWords } from './needs-secrets.ts';

type CommandRequest = RunRequest | SshRunRequest;

type RunCommandOptions = {
  /** The caller tells what went wrong itself; only a host key is asked about here. */
  quiet?: boolean;
  /** The command field of the Jobs view goes on with the same host. */
  keepHost?: boolean;
};

/** Runs a command in this tab's workspace, or from it on another host, and shows it. */
export function useRunCommand({ quiet = false, keepHost = false }: RunCommandOptions = {}) {
  const { api, hostKeys } = usePanel();
  const workspace = useWorkspace();
  const cache = useQueryClient();
  const run = useMutation({
    mutationFn: async (request: CommandRequest) => {
      if (workspace === undefined) throw new Error('Open a workspace first');
      const response = await api.open(isRemote(request) ? '/api/shell/ssh-run' : '/api/shell/run', {
        method: 'POST',
        body: request,
        workspaceId: workspace.ws_id,
        headers: { Accept: 'text/event-stream' },
      });
      // The job goes on without this stream; the log reads a lossy one, which never slows the command down.
      await response.body?.cancel();
      return response.headers.get('X-Job-Id') ?? '';
    },
    onSuccess: async (jobId, request) => {
      await Promise.all([
        cache.invalidateQueries({ queryKey: ['jobs', workspace?.ws_id] }),
        cache.invalidateQueries({ queryKey: ['recent', workspace?.ws_id] }),
      ]);
      goTo('jobs', jobId, keepHost && isRemote(request) ? { host: request.host } : {});
    },
    onError: (error, request) => {
      const key = hostKeyProblem(error);
      if (key !== undefined) hostKeys.ask({ ...key, goOn: () => run.mutate(request) });
      if (quiet || key !== undefined) return;
      const without = { label: 'Run without', onClick: () => run.mutate({ ...request, secrets: [] }) };
      toast.error('The command did not start', {
        description: needsSecrets(error) ? needsSecretsWords : problemText(error),
        ...(needsSecrets(error) ? { action: without } : {}),
      });
    },
  });
  return run;
}

/** The request that runs a command as it ran before: on a host again without secrets, which are named anew each time. */
export function commandAgain({
  cmd,
  cwd,
  host,
}: {
  cmd: string;
  cwd: string;
  host?: string | undefined;
}): CommandRequest {
  return host === undefined ? { cmd, cwd } : { cmd, host };
}

function isRemote(request: CommandRequest): request is SshRunRequest {
  return 'host' in request;
}
