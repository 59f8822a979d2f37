import { setTimeout as delay } from 'node:timers/promises';
import { CodedError } from '../contract/errors.ts';
import type { PanelEvent } from '../contract/events.ts';
import { JobId, type KeyId, RunId, type WorkspaceId } from '../contract/ids.ts';
import type { Actor } from '../contract/receipts.ts';
import {
  hardTimeoutSeconds,
  type JobListing,
  type JobOrigin,
  maxRunningJobs,
  type RunRequest,
} from '../contract/shell.ts';
import type { Clock } from '../lib/clock.ts';
import { newId } from '../lib/ids.ts';
import type { Logger } from '../lib/logger.ts';
import { type OpenFolder, openFolderInside } from '../lib/open-folder.ts';
import type { CommandBracket } from '../mutations/command-bracket.ts';
import type { CommandSecrets } from './command-secrets.ts';
import { EndedJobs } from './ended-jobs.ts';
import { PortLeases } from './free-port.ts';
import { Job, type JobResult, type Settled } from './job.ts';
import type { RecentCommands } from './recent-commands.ts';
import { SlabPool } from './slab-pool.ts';
import { SpareShell } from './spare-shell.ts';
import type { RunningJobs } from './store.ts';

export interface ShellJobsOptions {
  readonly recents: RecentCommands;
  readonly runningJobs: RunningJobs;
  /** What receipts a command's changes. */
  readonly bracketOf: (workspace: JobWorkspace) => Promise<CommandBracket>;
  /** What a command gets of the secrets: all, or those that are named. */
  readonly secretsOf: (
    call: { readonly workspace: JobWorkspace; readonly actor: Actor },
    names: readonly string[] | undefined,
  ) => Promise<CommandSecrets>;
  readonly environment: Readonly<Record<string, string>>;
  readonly publish: (event: PanelEvent) => void;
  readonly logger: Logger;
  readonly clock: Clock;
  /** Milliseconds between SIGTERM and SIGKILL. */
  readonly graceMs?: number;
  /** Milliseconds after the exit that the exit frame waits for the receipt. */
  readonly settleMs?: number;
  readonly ports?: PortLeases;
}

export interface JobWorkspace {
  readonly wsId: WorkspaceId;
  readonly slug: string;
  readonly path: string;
}

export interface RunOptions {
  readonly workspace: JobWorkspace;
  readonly request: RunRequest;
  readonly origin: JobOrigin;
  readonly actor: Actor;
}

const defaultGraceMs = 3000;
/** With the drain before it, an exit frame follows the exit within 250 ms. */
const defaultSettleMs = 230;
const pingEveryMs = 15_000;
/** A daemon that ends waits this long for the receipts of its last commands. */
const shutdownSettleMs = 300;
/** A command that prints nothing is noted this long after its start. */
const bookkeepingMs = 20;

/** The shell jobs of all workspaces: those under way, and the output of those that ended a short while ago. */
export class ShellJobs implements AsyncDisposable {
  readonly #options: ShellJobsOptions;
  readonly #ports: PortLeases;
  readonly #pool = new SlabPool();
  readonly #spare: SpareShell;
  readonly #active = new Map<JobId, Job>();
  readonly #kept: EndedJobs;
  /** A command that was being started when its key was revoked is ended as soon as it runs. */
  readonly #revokedKeys = new Set<KeyId>();
  readonly #pings: NodeJS.Timeout;
  #starting = 0;
  #closing = false;

  constructor(options: ShellJobsOptions) {
    this.#options = options;
    this.#ports = options.ports ?? new PortLeases();
    this.#kept = new EndedJobs();
    this.#spare = new SpareShell(options.environment);
    this.#pings = setInterval(() => {
      for (const job of this.#active.values()) job.output.pingViewers();
    }, pingEveryMs);
    this.#pings.unref();
  }

  /** Does ahead what would otherwise be done when the first command comes. */
  warmUp(): void {
    this.#spare.prepare();
  }

  get runningCount(): number {
    return this.#active.size;
  }

  /**
   * Starts a command; resolves once its process runs.
   *
   * @throws CodedError timeout_out_of_range, path_outside_workspace, folder_not_found, too_many_jobs, shutting_down,
   * spawn_failed; and what `secretsOf` throws
   */
  async run(options: RunOptions): Promise<Job> {
    const { workspace, request } = options;
    const timeoutSeconds = checkTimeout(request.timeout);
    this.#checkRoom(workspace.wsId);
    const folder = openCwd(workspace.path, request.cwd ?? '');
    this.#starting += 1;
    try {
      const job = await this.#start(options, folder, timeoutSeconds);
      this.#track(job);
      return job;
    } catch (error) {
      folder.close();
      throw error;
    } finally {
      this.#starting -= 1;
    }
  }

  /** Jobs of a workspace that have a process, oldest first. */
  list(wsId: WorkspaceId): JobListing[] {
    return [...this.#active.values()].map((job) => job.listing).filter((listing) => listing.ws_id === wsId);
  }

  /** @throws CodedError unknown_job where it is not of this workspace, or ended so long ago that its output is gone */
  find(wsId: WorkspaceId, jobId: JobId): Job {
    const job = this.#active.get(jobId) ?? this.#kept.get(jobId);
    if (job === undefined || job.options.wsId !== wsId)
      throw new CodedError(
        'unknown_job',
        `No job ${jobId} is running in this workspace, and none has just ended.`,
      );
    return job;
  }

  /** Ends all jobs that a key has started, because it was revoked. */
  endJobsOfKey(keyId: KeyId): void {
    this.#revokedKeys.add(keyId);
    for (const job of this.#active.values()) if (job.options.keyId === keyId) void job.end('revoked');
  }

  /** Ends every job within `withinMs`, and takes no more. */
  async shutdown(withinMs: number): Promise<void> {
    this.#closing = true;
    // A command that was let in before this is about to have a process: that must be ended too.
    while (this.#starting > 0) await delay(1);
    const jobs = [...this.#active.values()];
    const timer = setTimeout(() => {
      for (const job of jobs) job.hurry();
    }, withinMs);
    await Promise.all(jobs.map((job) => job.end('shutdown')));
    clearTimeout(timer);
    // What is not receipted by then is, from the journal, at the next start.
    await Promise.race([
      Promise.all(jobs.map((job) => job.settled)),
      delay(shutdownSettleMs, undefined, { ref: false }),
    ]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#pings);
    this.#spare[Symbol.dispose]();
    await this.shutdown(0);
    this.#kept.clear();
  }

  #checkRoom(wsId: WorkspaceId): void {
    if (this.#closing) throw new CodedError('shutting_down', 'The daemon is shutting down.');
    if (this.list(wsId).length + this.#starting < maxRunningJobs) return;
    throw new CodedError(
      'too_many_jobs',
      `This workspace has ${maxRunningJobs} commands running; wait for one to end.`,
    );
  }

  async #start(
    { workspace, request, origin, actor }: RunOptions,
    folder: OpenFolder,
    timeoutSeconds: number,
  ): Promise<Job> {
    const {
      environment,
      runningJobs,
      clock,
      graceMs = defaultGraceMs,
      settleMs = defaultSettleMs,
    } = this.#options;
    const jobId = JobId.parse(newId('j'));
    const runId = RunId.parse(newId('run'));
    const keyId = actor.type === 'key' ? actor.key_id : null;
    const bracket = await this.#options.bracketOf(workspace);
    const secrets = await this.#options.secretsOf({ workspace, actor }, request.secrets);
    const ports = await this.#ports.lease(request.cmd);
    // Written before the process exists: whenever the daemon dies, the next one finds what it started.
    runningJobs.write({ job_id: jobId, ws_id: workspace.wsId });
    try {
      await bracket.begin({ runId, actor, cmd: request.cmd });
      return await Job.start({
        jobId,
        runId,
        wsId: workspace.wsId,
        cmd: request.cmd,
        cwd: folder.relativePath,
        folder,
        timeoutSeconds,
        graceMs,
        environment,
        secrets,
        origin,
        keyId,
        startedAtMs: clock(),
        pool: this.#pool,
        spare: this.#spare,
        ports,
        settle: (result) => this.#settle(bracket, runId, result),
        settleMs,
      });
    } catch (error) {
      bracket.cancel(runId);
      ports?.release();
      runningJobs.remove(jobId);
      throw error;
    }
  }

  async #settle(bracket: CommandBracket, runId: RunId, { code }: JobResult): Promise<Settled> {
    try {
      const { receipt } = await bracket.end(runId, { exitCode: code });
      return { receipt_id: receipt?.receipt_id ?? null, files_changed: receipt?.files.length ?? 0 };
    } catch (error) {
      // The command has ended, and says how; its changes are receipted as soon as that is possible again.
      this.#options.logger.error({ err: error, runId }, 'changes not receipted');
      return {};
    }
  }

  #track(job: Job): void {
    const { jobId, wsId, keyId } = job.options;
    this.#active.set(jobId, job);
    if (keyId !== null && this.#revokedKeys.has(keyId)) void job.end('revoked');
    void this.#follow(job).catch((error: unknown) =>
      this.#options.logger.error({ err: error, jobId, wsId }, 'job not noted'),
    );
  }

  async #follow(job: Job): Promise<void> {
    const { recents, runningJobs, publish, logger, clock } = this.#options;
    const { jobId, wsId } = job.options;
    // Nothing here is needed for the first byte, so it is not done before that has left.
    await Promise.race([job.output.begun, job.exited, delay(bookkeepingMs)]);
    this.#spare.prepare();
    const { free_ports: ports, pid } = job.listing;
    logger.info({ jobId, wsId, pid, ...(ports.length > 0 ? { ports } : {}) }, 'job started');
    runningJobs.write({ job_id: jobId, ws_id: wsId, main: job.tree.main });
    await recents.add(job);
    publish({ type: 'job.started', job: job.listing });
    const result = await job.exited;
    const command = await recents.finish(job, result, clock());
    publish({ type: 'job.ended', ws_id: wsId, job_id: jobId, command });
    await job.settled;
    runningJobs.remove(jobId);
    this.#active.delete(jobId);
    this.#kept.add(job);
    logger.info({ jobId, wsId, ...result, ports: job.listing.free_ports }, 'job ended');
  }
}

function checkTimeout(timeout: number = hardTimeoutSeconds): number {
  if (timeout >= 1 && timeout <= hardTimeoutSeconds) return timeout;
  throw new CodedError('timeout_out_of_range', `timeout must be from 1 to ${hardTimeoutSeconds} seconds.`);
}

function openCwd(root: string, cwd: string): OpenFolder {
  if (cwd.includes('\0')) throw new CodedError('invalid_request', 'cwd must not contain NUL.');
  try {
    return openFolderInside(root, cwd);
  } catch (error) {
    throw cwdError(error, cwd);
  }
}

function cwdError(error: unknown, cwd: string): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  switch (code) {
    case 'outside_root':
      return new CodedError('path_outside_workspace', 'cwd leads out of the workspace.', { cause: error });
    case 'ENOENT':
      return new CodedError(
        'folder_not_found',
        cwd === '' ? 'The workspace folder is no longer there.' : 'There is no such folder in the workspace.',
        { cause: error },
      );
    case 'ENOTDIR':
      return new CodedError('folder_not_found', 'cwd is not a folder.', { cause: error });
    case 'EACCES':
    case 'EPERM':
      return new CodedError('folder_not_found', 'The folder may not be entered.', { cause: error });
    case 'ELOOP':
    case 'ENAMETOOLONG':
      return new CodedError('folder_not_found', 'cwd can not be followed to a folder.', { cause: error });
    default:
      return error;
  }
}
