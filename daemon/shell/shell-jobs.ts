import type { Actor } from '../contract/receipts.ts';
import type { JobOrigin, RunRequest } from '../contract/shell.ts';
import type { CommandBracket } from '../mutations/command-bracket.ts';
import type { CommandSecrets } from './command-secrets.ts';
import { PortLeases } from './free-port.ts';
import type { Job } from './job.ts';
import { checkTimeout, type JobTable, type JobWorkspace } from './job-table.ts';
import { openCwd } from './open-cwd.ts';
import { SpareShell } from './spare-shell.ts';
import { startLocal } from './start-local.ts';

export interface ShellJobsOptions {
  readonly jobs: JobTable;
  /** What receipts a command's changes. */
  readonly bracketOf: (workspace: JobWorkspace) => Promise<CommandBracket>;
  /** What a command gets of the secrets: all, or those that are named. */
  readonly secretsOf: (
    call: { readonly workspace: JobWorkspace; readonly actor: Actor },
    names: readonly string[] | undefined,
  ) => Promise<CommandSecrets>;
  readonly environment: Readonly<Record<string, string>>;
  readonly ports?: PortLeases;
}

export interface RunOptions {
  readonly workspace: JobWorkspace;
  readonly request: RunRequest;
  readonly origin: JobOrigin;
  readonly actor: Actor;
}

/** Commands in workspaces on this machine. */
export class ShellJobs implements Disposable {
  readonly #options: ShellJobsOptions;
  readonly #ports: PortLeases;
  readonly #spare: SpareShell;

  constructor(options: ShellJobsOptions) {
    this.#options = options;
    this.#ports = options.ports ?? new PortLeases();
    this.#spare = new SpareShell(options.environment);
  }

  /** Does ahead what would otherwise be done when the first command comes. */
  warmUp(): void {
    this.#spare.prepare();
  }

  /**
   * Starts a command; resolves once its process runs.
   *
   * @throws CodedError timeout_out_of_range, path_outside_workspace, folder_not_found, too_many_jobs, shutting_down,
   * spawn_failed; and what `secretsOf` throws
   */
  async run({ workspace, request, origin, actor }: RunOptions): Promise<Job> {
    const { jobs, bracketOf, secretsOf, environment } = this.#options;
    const timeoutSeconds = checkTimeout(request.timeout);
    return jobs.start({ wsId: workspace.wsId, isRemote: false }, async () => {
      const folder = openCwd(workspace.path, request.cwd ?? '');
      try {
        const bracket = await bracketOf(workspace);
        const secrets = await secretsOf({ workspace, actor }, request.secrets);
        const spawn = { folder: folder.path, environment, secrets: secrets.variables };
        return {
          workspace,
          actor,
          origin,
          cmd: request.cmd,
          cwd: folder.relativePath,
          timeoutSeconds,
          secrets,
          ports: await this.#ports.lease(request.cmd),
          bracket,
          launch: (jobId, commandLine) => startLocal({ ...spawn, jobId, commandLine }, this.#spare),
          onBegun: () => this.#spare.prepare(),
          onEnded: () => folder.close(),
        };
      } catch (error) {
        folder.close();
        throw error;
      }
    });
  }

  [Symbol.dispose](): void {
    this.#spare[Symbol.dispose]();
  }
}
