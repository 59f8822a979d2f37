import { constants } from 'node:os';
import type { Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { JobId, KeyId, RunId, WorkspaceId } from '../contract/ids.ts';
import type { EndReason, ExitFrame, JobListing, JobOrigin } from '../contract/shell.ts';
import { timestamp } from '../lib/clock.ts';
import type { CommandSecrets } from './command-secrets.ts';
import type { FrameViewer } from './frame-viewer.ts';
import type { PortLease } from './free-port.ts';
import { JobOutput } from './job-output.ts';
import type { JobProcess, ProcessExit } from './job-process.ts';
import type { OutputPipes } from './output-pipes.ts';
import type { SlabPool } from './slab-pool.ts';

export interface JobOptions {
  readonly jobId: JobId;
  readonly runId: RunId;
  readonly wsId: WorkspaceId;
  /** As given, with `$FREE_PORT` in it. */
  readonly cmd: string;
  /** Where it runs, if that is another host. */
  readonly host?: string;
  /** As listed, relative to the workspace root. */
  readonly cwd: string;
  /** Starts the command line, with `$FREE_PORT` replaced. @throws CodedError */
  readonly start: (commandLine: string) => Promise<JobProcess>;
  /** Called once when no process is left. */
  readonly onEnded: () => void;
  readonly timeoutSeconds: number;
  /** Milliseconds between SIGTERM and SIGKILL. */
  readonly graceMs: number;
  /** What only this command gets in its environment, and what is masked in all that is told of it. */
  readonly secrets: CommandSecrets;
  readonly origin: JobOrigin;
  readonly keyId: KeyId | null;
  readonly startedAtMs: number;
  readonly pool: SlabPool;
  /** Called once when no process is left. Resolves with what became of the command's changes; never rejects. */
  readonly settle: (result: JobResult) => Promise<Settled>;
  /** The exit frame waits for that, but not longer than these milliseconds after the exit. */
  readonly settleMs: number;
  /** Present where the command asks for a port. */
  readonly ports: PortLease | undefined;
}

export interface JobResult {
  readonly code: number;
  readonly signal: NodeJS.Signals | null;
  readonly reason: EndReason | null;
}

/** What the exit frame says of the command's changes. */
export type Settled = Pick<ExitFrame, 'receipt_id' | 'files_changed'>;

/** What a command left behind may hold its pipes open: they are waited for this long at most. */
const drainMs = 150;
const timeoutCode = 124;

/**
 * One command, from the start of its process to the end of all of them: running → finishing → ended. The first reason
 * to end it wins. `exited` resolves when the exit frame is in the log, `ended` when no process of it is left.
 */
export class Job {
  readonly options: JobOptions;
  readonly output: JobOutput;
  readonly exited: Promise<JobResult>;
  /** What became of the changes; resolves after `ended`. */
  readonly settled: Promise<Settled>;
  readonly ended: Promise<void>;
  readonly #timer: NodeJS.Timeout;
  readonly #hurry = new AbortController();
  #process: JobProcess;
  #pipes: OutputPipes;
  #sweep: Promise<void> | undefined;
  #exitedAt = 0;
  #state: JobListing['state'] = 'running';
  #reason: EndReason | null = null;

  /** @throws what `start` throws */
  static async start(options: JobOptions): Promise<Job> {
    return new Job(options, await options.start(commandLineOf(options)));
  }

  private constructor(options: JobOptions, first: JobProcess) {
    this.options = options;
    this.output = new JobOutput(options.pool, options.secrets.newMasker);
    this.#process = first;
    this.#pipes = this.#follow();
    this.#timer = setTimeout(() => void this.end('timeout'), options.timeoutSeconds * 1000);
    const result = this.#runToExit();
    this.ended = result.then(() => this.#terminate()).then(() => this.#markEnded());
    this.settled = this.ended.then(async () => options.settle(await result));
    this.exited = result.then((exit) => this.#tell(exit));
  }

  get listing(): JobListing {
    const { jobId, runId, wsId, cmd, cwd, startedAtMs, origin, keyId, timeoutSeconds, ports, secrets, host } =
      this.options;
    return {
      job_id: jobId,
      run_id: runId,
      ws_id: wsId,
      cmd: secrets.mask(cmd),
      ...(host === undefined ? {} : { host }),
      cwd: secrets.mask(cwd),
      started_at: timestamp(startedAtMs),
      pid: this.#process.pid,
      state: this.#state,
      origin,
      key_id: keyId,
      timeout: timeoutSeconds,
      free_ports: [...(ports?.given ?? [])],
    };
  }

  /** How its process is found again by the next daemon; undefined on another host. */
  get main(): JobProcess['main'] {
    return this.#process.main;
  }

  attach(sink: Writable, options: { readonly lastId: number; readonly lossy: boolean }): FrameViewer {
    return this.output.attach(sink, options);
  }

  /** Ends the command and every process of it; resolves when none is left. Later reasons change nothing. */
  async end(reason: EndReason): Promise<void> {
    // Between two attempts at a port there is nothing to end, but there must be no further attempt.
    if (this.#state === 'running' || this.options.ports !== undefined) this.#reason ??= reason;
    void this.#terminate();
    await this.ended;
  }

  /** Ends what is left without waiting out the grace period. */
  hurry(): void {
    this.#hurry.abort();
  }

  #follow(): OutputPipes {
    return this.output.follow(this.#process, { keepTail: this.options.ports !== undefined });
  }

  #terminate(): Promise<void> {
    const { graceMs } = this.options;
    this.#sweep ??= this.#process.terminate({ graceMs, hurry: this.#hurry.signal });
    return this.#sweep;
  }

  async #runToExit(): Promise<JobResult> {
    let exit = await this.#processExit();
    while ((await this.#portWasTaken(exit)) && (await this.#runAgain())) exit = await this.#processExit();
    clearTimeout(this.#timer);
    return toResult(exit, this.#reason);
  }

  /** Puts the exit frame into the log, with the receipt where it is there in time: a slow disk must not hold it up. */
  async #tell(result: JobResult): Promise<JobResult> {
    const left = this.options.settleMs - (performance.now() - this.#exitedAt);
    const settled = await Promise.race([this.settled, delay(Math.max(1, left), {}, { ref: false })]);
    const masked = this.output.maskedCount;
    this.output.end({
      ...exitFrame(result),
      run_id: this.options.runId,
      ...settled,
      ...(masked === 0 ? {} : { masked }),
    });
    return result;
  }

  /** The end of the main process, with all that it printed in the log; its leftovers are being ended meanwhile. */
  async #processExit(): Promise<ProcessExit> {
    const exit = await this.#process.exit;
    this.#exitedAt = performance.now();
    // From here on it has ended by itself: a cancel that comes during the drain is too late to be the reason.
    this.#state = 'finishing';
    void this.#terminate();
    await Promise.race([this.#pipes.drain(), delay(drainMs, undefined, { ref: false })]);
    this.#pipes.close();
    return exit;
  }

  /**
   * Between finding a port and the command's binding it, another program can take it. The command is run again only if
   * it blames the port and the port is in use by something that is not its own: running twice is not harmless.
   */
  async #portWasTaken({ code }: ProcessExit): Promise<boolean> {
    const { ports } = this.options;
    if (ports === undefined || code === 0 || this.#reason !== null || !ports.isBlamed(this.output.tail))
      return false;
    await this.#sweep;
    return (await ports.isTaken()) && this.#reason === null;
  }

  /** Answers false where that can't be done: then the first end stands. */
  async #runAgain(): Promise<boolean> {
    const { ports } = this.options;
    const taken = ports?.current;
    try {
      await ports?.renew();
      this.#process = await this.options.start(commandLineOf(this.options));
    } catch {
      // No port or no process to be had: the command has failed, and its own output says why.
      return false;
    }
    this.output.note(
      `tallystick: port ${taken} was taken by another program; running again with port ${ports?.current}`,
    );
    this.#state = 'running';
    this.#sweep = undefined;
    this.#pipes = this.#follow();
    // A cancel that came while there was no process is due now.
    if (this.#reason !== null) void this.#terminate();
    return true;
  }

  #markEnded(): void {
    this.#state = 'ended';
    this.options.ports?.release();
    this.options.onEnded();
  }
}

function commandLineOf({ cmd, ports }: JobOptions): string {
  return ports?.substitute(cmd) ?? cmd;
}

function toResult({ code, signal, reason: given }: ProcessExit, wanted: EndReason | null): JobResult {
  const reason = wanted ?? given ?? null;
  if (reason === 'timeout') return { code: timeoutCode, signal, reason };
  return { code: code ?? 128 + (signal === null ? 0 : constants.signals[signal]), signal, reason };
}

function exitFrame({ code, signal, reason }: JobResult): object {
  return {
    type: 'exit',
    code,
    ...(signal === null ? {} : { signal }),
    ...(reason === null ? {} : { reason }),
  };
}
