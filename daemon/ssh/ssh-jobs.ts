import { CodedError } from '../contract/errors.ts';
import type { JobOrigin } from '../contract/shell.ts';
import type { SshRunRequest } from '../contract/ssh.ts';
import type { Job } from '../shell/job.ts';
import type { checkTimeout, JobTable } from '../shell/job-table.ts';
import type { ShellJobsOptions } from '../shell/shell-jobs.ts';
import { isChannelRefused } from './connect/ssh-connections.ts';
import { RemoteCommands } from './remote-process.ts';
import type { SshConnector } from './ssh-connection.ts';

export interface SshJobsOptions extends Pick<ShellJobsOptions, 'bracketOf' | 'secretsOf'> {
  readonly jobs: JobTable;
  readonly connections: SshConnector;
  readonly checkTimeout: typeof checkTimeout;
}

export type SshCall = Parameters<ShellJobsOptions['secretsOf']>[0] & { readonly origin: JobOrigin };

/** What stands for the folder that a remote command starts in. */
const home = '~';

/** Commands on other hosts: jobs like those on this machine, with their own limit. */
export class SshJobs {
  readonly #options: SshJobsOptions;
  readonly #commands = new RemoteCommands();

  constructor(options: SshJobsOptions) {
    this.#options = options;
  }

  /**
   * Starts a command; resolves once the host has taken it.
   *
   * @throws CodedError timeout_out_of_range, too_many_ssh_jobs, too_many_jobs, shutting_down, ssh_failed, unknown_secret; and
   * what `SshConnector.lease` throws
   */
  async run(call: SshCall, request: SshRunRequest): Promise<Job> {
    const { jobs, connections, bracketOf, secretsOf, checkTimeout } = this.#options;
    const { workspace, actor, origin } = call;
    const timeoutSeconds = checkTimeout(request.timeout);
    return jobs.start({ wsId: workspace.wsId, isRemote: true }, async () => {
      const bracket = await bracketOf(workspace);
      const secrets = await secretsOf(call, request.secrets ?? []);
      let lease = await connections.lease(request.host);
      return {
        workspace,
        actor,
        origin,
        cmd: request.cmd,
        host: request.host,
        cwd: home,
        timeoutSeconds,
        secrets,
        ports: undefined,
        bracket,
        launch: async (_jobId, cmd) => {
          const fresh = () => connections.lease(request.host, { fresh: true });
          const command = { cmd, secrets: secrets.variables };
          try {
            return await this.#commands.start(lease, command, fresh);
          } catch (error) {
            if (!(error instanceof CodedError && isChannelRefused(error.cause))) throw error;
            // The server lets no further session through this connection.
            lease[Symbol.dispose]();
            lease = await fresh();
            return this.#commands.start(lease, command, fresh);
          }
        },
        onEnded: () => lease[Symbol.dispose](),
      };
    });
  }
}
