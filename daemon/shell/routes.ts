import type { ServerResponse } from 'node:http';
import * as z from 'zod';
import { JobId } from '../contract/ids.ts';
import { CancelledJob, JobFrame, JobListing, RecentCommand, RunRequest } from '../contract/shell.ts';
import { eventStreamHeaders, lastEventIdOf } from '../http/event-hub.ts';
import type { OpenStreams } from '../http/open-streams.ts';
import { actorOf, type Call, type Principal, type Route, route, type WorkspaceOf } from '../http/route.ts';
import type { Job } from './job.ts';
import type { JobTable } from './job-table.ts';
import type { RecentCommands } from './recent-commands.ts';
import type { ShellJobs } from './shell-jobs.ts';

export interface ShellRoutesOptions {
  readonly jobs: JobTable;
  readonly shell: ShellJobs;
  readonly recents: RecentCommands;
  readonly streams: OpenStreams;
  readonly workspaceOf: WorkspaceOf;
}

const jobParams = z.strictObject({ job_id: JobId });
const workspaceErrors = ['no_active_workspace', 'unknown_workspace'] as const;

export function shellRoutes({ jobs, shell, recents, streams, workspaceOf }: ShellRoutesOptions): Route[] {
  return [
    route({
      method: 'post',
      path: '/api/shell/run',
      stream: true,
      summary: 'Run a command in the workspace and stream its output',
      scope: 'agent',
      limit: 'per-key',
      workspace: true,
      request: { body: RunRequest },
      response: {
        200: {
          description: 'One frame per line of output, then the exit frame',
          schema: JobFrame,
          contentType: 'text/event-stream',
        },
      },
      errors: [
        ...workspaceErrors,
        'timeout_out_of_range',
        'path_outside_workspace',
        'folder_not_found',
        'too_many_jobs',
        'spawn_failed',
        'unknown_secret',
        'secrets_store_damaged',
        'master_key_unavailable',
        'master_key_locked',
        'shutting_down',
      ],
      handler: async (call) => {
        const { principal, res } = call;
        const origin = principal.kind === 'key' ? 'api' : 'panel';
        const actor = actorOf(principal);
        const job = await shell.run({ workspace: workspaceOf(call), request: call.body, origin, actor });
        streamJob(job, { principal, res, streams });
        return undefined;
      },
    }),
    route({
      method: 'get',
      path: '/api/shell/jobs',
      summary: 'Jobs of the workspace that are under way',
      scope: 'read',
      limit: 'per-key',
      workspace: true,
      request: {},
      response: { 200: { description: 'Oldest first', schema: z.array(JobListing) } },
      errors: workspaceErrors,
      handler: (call) => ({ status: 200, body: jobs.list(workspaceOf(call).wsId) }),
    }),
    route({
      method: 'get',
      path: '/api/shell/jobs/:job_id/stream',
      stream: true,
      summary: 'Take up the output of a job, under way or just ended, after the frame named by Last-Event-ID',
      scope: 'read',
      limit: 'per-key',
      workspace: true,
      request: {
        params: jobParams,
        query: z.strictObject({
          lossy: z
            .enum(['true', 'false'])
            .optional()
            .describe('true: a slow reader gets gap frames and never slows the command'),
          last_event_id: z
            .string()
            .regex(/^\d{1,15}$/, 'must be the id of a frame')
            .optional()
            .describe('For clients that can not set Last-Event-ID'),
        }),
      },
      response: {
        200: {
          description: 'The frames that are still kept, a gap frame for those that are not, then live output',
          schema: JobFrame,
          contentType: 'text/event-stream',
        },
      },
      errors: [...workspaceErrors, 'unknown_job', 'bad_request'],
      handler: (call) => {
        const job = jobs.find(workspaceOf(call).wsId, call.params.job_id);
        const lastId = lastEventId(call, call.query.last_event_id);
        call.res.writeHead(200, { ...eventStreamHeaders, 'X-Job-Id': job.options.jobId });
        flushHeadSoon(call.res);
        streams.add(call.principal, job.attach(call.res, { lastId, lossy: call.query.lossy === 'true' }));
        return undefined;
      },
    }),
    route({
      method: 'post',
      path: '/api/shell/cancel/:job_id',
      summary:
        'End a job and everything it started: SIGTERM, after 3 seconds SIGKILL; answers when nothing of it is left',
      scope: 'agent',
      limit: 'per-key',
      workspace: true,
      request: { params: jobParams },
      response: {
        200: {
          description: 'How the job ended; of one that had ended before, how it did',
          schema: CancelledJob,
        },
      },
      errors: [...workspaceErrors, 'unknown_job'],
      handler: async (call) => {
        const job = jobs.find(workspaceOf(call).wsId, call.params.job_id);
        await job.end('cancelled');
        const { code, signal } = await job.exited;
        return { status: 200, body: { job_id: job.options.jobId, code, signal } };
      },
    }),
    route({
      method: 'get',
      path: '/api/shell/recent',
      summary: 'The last 50 commands of the workspace',
      scope: 'read',
      limit: 'per-key',
      workspace: true,
      request: {},
      response: { 200: { description: 'Newest first', schema: z.array(RecentCommand) } },
      errors: workspaceErrors,
      handler: async (call) => ({ status: 200, body: await recents.list(workspaceOf(call).wsId) }),
    }),
  ];
}

/** Answers with the frames of a job, from the first on. */
export function streamJob(
  job: Job,
  {
    principal,
    res,
    streams,
  }: { readonly principal: Principal; readonly res: ServerResponse; readonly streams: OpenStreams },
): void {
  const [port] = job.listing.free_ports;
  res.writeHead(200, {
    ...eventStreamHeaders,
    'X-Job-Id': job.options.jobId,
    'X-Run-Id': job.options.runId,
    ...(port === undefined ? {} : { 'X-Free-Port': String(port) }),
  });
  streams.add(principal, job.attach(res, { lastId: 0, lossy: false }));
  flushHeadSoon(res);
}

/**
 * Most commands print at once, and their first frame takes the head of the answer along; the head of a quiet one goes
 * out a few milliseconds later. A write of its own for each head would stand before the first byte of all of them.
 */
function flushHeadSoon(res: ServerResponse): void {
  setTimeout(() => res.flushHeaders(), 5);
}

/** A header that is no frame id is taken for none: the client gets everything that is kept. */
function lastEventId(
  { req }: Pick<Call<unknown, unknown, unknown>, 'req'>,
  fromQuery: string | undefined,
): number {
  const text = lastEventIdOf(req) ?? fromQuery ?? '';
  return /^\d{1,15}$/.test(text) ? Number(text) : 0;
}
