import { setTimeout as delay } from 'node:timers/promises';
import { CodedError } from '../contract/errors.ts';
import type { PanelEvent } from '../contract/events.ts';
import { JobId, type KeyId, RunId, type WorkspaceId } from '../contract/ids.ts';
import type { Actor } from '../contract/receipts.ts';
import { hardTimeoutSeconds, type JobListing, maxRunningJobs } from '../contract/shell.ts';
import { maxSshJobs } from '../contract/ssh.ts';
import type { Clock } from '../lib/clock.ts';
import { newId } from '../lib/ids.ts';
import type { Logger } from '../lib/logger.ts';
import type { CommandBracket } from '../mutations/command-bracket.ts';
import { EndedJobs } from './ended-jobs.ts';
import { Job, type JobOptions, type JobResult, type Settled } from './job.ts';
import type { JobProcess } from './job-process.ts';
import type { RecentCommands } from './recent-commands.ts';
import { SlabPool } from './slab-pool.ts';
import type { RunningJobs } from './store.ts';

export interface JobTableOptions {
  readonly recents: RecentCommands;
  readonly runningJobs: RunningJobs;
  readonly publish: (event: PanelEvent) => void;
  readonly logger: Logger;
  readonly clock: Clock;
  /** Milliseconds between SIGTERM and SIGKILL. */
  readonly graceMs?: number;
  /** Milliseconds after the exit that the exit frame waits for the receipt. */
  readonly settleMs?: number;
}

export interface JobWorkspace {
  readonly wsId: WorkspaceId;
  readonly slug: string;
  readonly path: string;
}

/** A command that is let in, and how to start it. */
export interface JobPlan
  extends Pick<
    JobOptions,
    'cmd' | 'host' | 'cwd' | 'timeoutSeconds' | 'origin' | 'secrets' | 'ports' | 'onEnded'
  > {
  readonly workspace: JobWorkspace;
  readonly actor: Actor;
  /** What receipts it. */
  readonly bracket: CommandBracket;
  /** Starts its process. @throws CodedError */
  readonly launch: (jobId: JobId, commandLine: string) => Promise<JobProcess>;
  /** Called when its first output has left. */
  readonly onBegun?: () => void;
}

const defaultGraceMs = 3000;
/** With the drain before it, an exit frame follows the exit within 250 ms. */
const defaultSettleMs = 230;
const pingEveryMs = 15_000;
/** A daemon that ends waits this long for the receipts of its last commands. */
const shutdownSettleMs = 300;
/** A command that prints nothing is noted this long after its start. */
const bookkeepingMs = 20;

/** The jobs of all workspaces, here and on other hosts: those under way, and the output of those that ended a short while ago. */
export class JobTable implements AsyncDisposable {
  readonly #options: JobTableOptions;
  readonly #pool = new SlabPool();
  readonly #active = new Map<JobId, Job>();
  readonly #kept: EndedJobs;
  /** A command that was being started when its key was revoked is ended as soon as it runs. */
  readonly #revokedKeys = new Set<KeyId>();
  readonly #pings: NodeJS.Timeout;
  readonly #starting = new Set<{ readonly wsId: WorkspaceId; readonly isRemote: boolean }>();
  #closing = false;

  constructor(options: JobTableOptions) {
    this.#options = options;
    this.#kept = new EndedJobs();
    this.#pings = setInterval(() => {
      for (const job of this.#active.values()) job.output.pingViewers();
    }, pingEveryMs);
    this.#pings.unref();
  }

  get runningCount(): number {
    return this.#active.size;
  }

  /**
   * Starts a command where there is room for it; resolves once its process runs. `plan` is asked when it has a place.
   *
   * @throws CodedError too_many_jobs, too_many_ssh_jobs, shutting_down; what `plan` and its `launch` throw
   */
  async start(
    where: { readonly wsId: WorkspaceId; readonly isRemote: boolean },
    plan: () => Promise<JobPlan>,
  ): Promise<Job> {
    this.#checkRoom(where);
    const place = { ...where };
    this.#starting.add(place);
    try {
      const planned = await plan();
      const job = await this.#start(planned);
      this.#track(job, planned.onBegun);
      return job;
    } finally {
      this.#starting.delete(place);
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
    while (this.#starting.size > 0) await delay(1);
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
    await this.shutdown(0);
    this.#kept.clear();
  }

  #checkRoom({ wsId, isRemote }: { readonly wsId: WorkspaceId; readonly isRemote: boolean }): void {
    if (this.#closing) throw new CodedError('shutting_down', 'The daemon is shutting down.');
    const running = [
      ...this.list(wsId).map(({ host }) => ({ isRemote: host !== undefined })),
      ...[...this.#starting].filter((place) => place.wsId === wsId),
    ];
    if (isRemote && running.filter((job) => job.isRemote).length >= maxSshJobs)
      throw new CodedError(
        'too_many_ssh_jobs',
        `This workspace has ${maxSshJobs} commands running on other hosts; wait for one to end.`,
      );
    if (running.length < maxRunningJobs) return;
    throw new CodedError(
      'too_many_jobs',
      `This workspace has ${maxRunningJobs} commands running; wait for one to end.`,
    );
  }

  async #start({ workspace, actor, bracket, launch, onBegun: _, ...plan }: JobPlan): Promise<Job> {
    const { runningJobs, clock, graceMs = defaultGraceMs, settleMs = defaultSettleMs } = this.#options;
    const { cmd, host, ports, onEnded } = plan;
    const jobId = JobId.parse(newId('j'));
    const runId = RunId.parse(newId('run'));
    const keyId = actor.type === 'key' ? actor.key_id : null;
    // Written before the process exists: whenever the daemon dies, the next one finds what it started.
    runningJobs.write({ job_id: jobId, ws_id: workspace.wsId });
    try {
      await bracket.begin({ runId, actor, cmd, ...(host === undefined ? {} : { host }) });
      return await Job.start({
        ...plan,
        jobId,
        runId,
        wsId: workspace.wsId,
        start: (commandLine) => launch(jobId, commandLine),
        graceMs,
        keyId,
        startedAtMs: clock(),
        pool: this.#pool,
        settle: (result) => this.#settle(bracket, runId, result),
        settleMs,
      });
    } catch (error) {
      bracket.cancel(runId);
      ports?.release();
      onEnded();
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

  #track(job: Job, onBegun: JobPlan['onBegun']): void {
    const { jobId, wsId, keyId } = job.options;
    this.#active.set(jobId, job);
    if (keyId !== null && this.#revokedKeys.has(keyId)) void job.end('revoked');
    void this.#follow(job, onBegun).catch((error: unknown) =>
      this.#options.logger.error({ err: error, jobId, wsId }, 'job not noted'),
    );
  }

  async #follow(job: Job, onBegun: JobPlan['onBegun']): Promise<void> {
    const { recents, runningJobs, publish, logger, clock } = this.#options;
    const { jobId, wsId } = job.options;
    // Nothing here is needed for the first byte, so it is not done before that has left.
    await Promise.race([job.output.begun, job.exited, delay(bookkeepingMs)]);
    onBegun?.();
    const { free_ports: ports, pid } = job.listing;
    logger.info({ jobId, wsId, pid, ...(ports.length > 0 ? { ports } : {}) }, 'job started');
    runningJobs.write({ job_id: jobId, ws_id: wsId, ...(job.main && { main: job.main }) });
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

/** @throws CodedError timeout_out_of_range */
export function checkTimeout(timeout: number = hardTimeoutSeconds): number {
  if (timeout >= 1 && timeout <= hardTimeoutSeconds) return timeout;
  throw new CodedError('timeout_out_of_range', `timeout must be from 1 to ${hardTimeoutSeconds} seconds.`);
}
