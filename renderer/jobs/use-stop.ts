import { useState } from 'react';
import { toast } from 'sonner';
import type { CancelledJob } from '../../daemon/contract/shell.ts';
import { ApiProblem, problemText } from '../api/problem.ts';
import { usePanel } from '../panel-context.ts';

/** Ends a job, here or on another host. `stopping` stays true until the job has gone from the list. */
export function useStop(jobId: string, workspaceId: string): { stopping: boolean; stop: () => void } {
  const { api } = usePanel();
  const [stopping, setStopping] = useState(false);
  const stop = () => {
    setStopping(true);
    api
      .json<CancelledJob>(`/api/shell/cancel/${jobId}`, { method: 'POST', workspaceId })
      .catch((error: unknown) => {
        // It may have ended by itself in the meantime.
        if (error instanceof ApiProblem && error.code === 'unknown_job') return;
        setStopping(false);
        toast.error('The command was not stopped', { description: problemText(error) });
      });
  };
  return { stopping, stop };
}
