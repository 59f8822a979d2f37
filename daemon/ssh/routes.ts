import * as z from 'zod';
import { JobFrame } from '../contract/shell.ts';
import {
  AcceptedHostKey,
  AcceptHostKeyRequest,
  PulledFile,
  SshAlias,
  SshHost,
  SshPullRequest,
  SshRunRequest,
  SshTest,
} from '../contract/ssh.ts';
import type { OpenStreams } from '../http/open-streams.ts';
import { actorOf, type Route, route, type WorkspaceOf } from '../http/route.ts';
import type { streamJob } from '../shell/routes.ts';
import type { Pulls } from './pull/pulls.ts';
import type { SshJobs } from './ssh-jobs.ts';

/** What the routes call. */
export interface SshCore {
  readonly hosts: { list(): Promise<SshHost[]> };
  readonly jobs: SshJobs;
  readonly pulls: Pulls;
  /** Connects and signs in, and says how that went. */
  readonly test: (alias: string) => Promise<SshTest>;
  readonly accept: (alias: string, request: AcceptHostKeyRequest) => Promise<AcceptedHostKey>;
}

export interface SshRoutesOptions {
  readonly core: () => Promise<SshCore>;
  readonly streams: OpenStreams;
  readonly streamJob: typeof streamJob;
  readonly workspaceOf: WorkspaceOf;
}

const hostParams = z.strictObject({ host: SshAlias });
const workspaceErrors = ['no_active_workspace', 'unknown_workspace', 'folder_not_found'] as const;
const connectErrors = [
  'unknown_ssh_host',
  'ssh_password_host_unsupported',
  'ssh_host_unsupported',
  'ssh_host_key_unknown',
  'ssh_host_key_changed',
  'ssh_host_key_revoked',
  'ssh_connect_failed',
  'ssh_auth_failed',
  'ssh_failed',
  'ssh_timeout',
] as const;

export function sshRoutes({ core, streams, streamJob, workspaceOf }: SshRoutesOptions): Route[] {
  return [
    route({
      method: 'get',
      path: '/api/shell/ssh-hosts',
      summary: 'Hosts of the SSH client configuration',
      scope: 'read',
      limit: 'per-key',
      request: {},
      response: { 200: { description: 'In the order of the configuration', schema: z.array(SshHost) } },
      errors: ['ssh_host_unsupported'],
      handler: async () => ({ status: 200, body: await (await core()).hosts.list() }),
    }),
    route({
      method: 'post',
      path: '/api/shell/ssh-hosts/:host/test',
      summary: 'Connect to a host and sign in',
      scope: 'agent',
      limit: 'per-key',
      request: { params: hostParams },
      response: { 200: { description: 'It works', schema: SshTest } },
      errors: connectErrors,
      handler: async ({ params }) => ({ status: 200, body: await (await core()).test(params.host) }),
    }),
    route({
      method: 'post',
      path: '/api/shell/ssh-hosts/:host/accept-key',
      summary: 'Take the key that a host showed last for its own, after a person has compared it',
      scope: 'session',
      limit: 'none',
      request: { params: hostParams, body: AcceptHostKeyRequest },
      response: { 200: { description: 'It is known from now on', schema: AcceptedHostKey } },
      errors: ['unknown_ssh_host', 'conflict', 'ssh_host_key_changed', 'ssh_host_key_revoked'],
      handler: async ({ params, body }) => ({
        status: 200,
        body: await (await core()).accept(params.host, body),
      }),
    }),
    route({
      method: 'post',
      path: '/api/shell/ssh-run',
      stream: true,
      summary: 'Run a command on a host and stream its output',
      scope: 'agent',
      limit: 'per-key',
      workspace: true,
      request: { body: SshRunRequest },
      response: {
        200: {
          description: 'One frame per line of output, then the exit frame',
          schema: JobFrame,
          contentType: 'text/event-stream',
        },
      },
      errors: [
        ...workspaceErrors,
        ...connectErrors,
        'timeout_out_of_range',
        'too_many_ssh_jobs',
        'too_many_jobs',
        'unknown_secret',
        'secrets_store_damaged',
        'master_key_unavailable',
        'master_key_locked',
        'shutting_down',
      ],
      handler: async (call) => {
        const { principal, res, body } = call;
        const origin = principal.kind === 'key' ? 'api' : 'panel';
        const actor = actorOf(principal);
        const { jobs } = await core();
        const job = await jobs.run({ workspace: workspaceOf(call), actor, origin }, body);
        streamJob(job, { principal, res, streams });
        return undefined;
      },
    }),
    route({
      method: 'post',
      path: '/api/shell/ssh-pull',
      summary: 'Copy a file of a host into the workspace, to pulled/<host>/<name>',
      scope: 'agent',
      limit: 'per-key',
      workspace: true,
      request: { body: SshPullRequest },
      response: { 200: { description: 'It is there', schema: PulledFile } },
      errors: [
        ...workspaceErrors,
        ...connectErrors,
        'remote_file_not_found',
        'remote_file_unreadable',
        'remote_not_a_file',
        'remote_name_refused',
        'file_too_large',
        'path_outside_workspace',
        'conflict',
        'not_a_file',
      ],
      handler: async (call) => {
        const gone = new AbortController();
        call.res.once('close', () => gone.abort());
        const workspace = workspaceOf(call);
        const { pulls } = await core();
        const pulled = { workspace, actor: actorOf(call.principal), signal: gone.signal };
        return { status: 200, body: await pulls.pull(pulled, call.body) };
      },
    }),
  ];
}
