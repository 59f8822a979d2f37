import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { CodedError } from '../contract/errors.ts';
import type { JobId } from '../contract/ids.ts';
import type { EndReason } from '../contract/shell.ts';
import { readProcess } from '../lib/process-table.ts';
import { jobCookieName } from './child-environment.ts';
import type { MainProcess, TerminateOptions } from './kill-tree.ts';
import { shellCommand } from './shell-command.ts';

export interface SpawnOptions {
  readonly jobId: JobId;
  readonly commandLine: string;
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Variables of this command alone. */
  readonly secrets: Readonly<Record<string, string>>;
}

/** A command under way, here or on another host. */
export interface JobProcess {
  readonly stdout: Readable | null;
  readonly stderr: Readable | null;
  /** 0 on another host. */
  readonly pid: number;
  /** How it is found again by the next daemon, where it runs here. */
  readonly main?: MainProcess;
  /** Resolves when the main process ends, whatever still holds its pipes. */
  readonly exit: Promise<ProcessExit>;
  /** Ends it and all that it has started; resolves when none of it is left. */
  terminate(options: Pick<TerminateOptions, 'graceMs' | 'hurry'>): Promise<void>;
}

export interface LocalProcess {
  readonly child: ChildProcess;
  readonly main: MainProcess;
  /** Pid that everything the process starts comes after; undefined where that can't be said. */
  readonly newerThan: number | undefined;
  readonly exit: Promise<ProcessExit>;
}

export interface ProcessExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Where that is why, and not an end of its own. */
  readonly reason?: EndReason;
}

/** @throws CodedError spawn_failed where the system gives no process */
export async function startProcess(options: SpawnOptions): Promise<LocalProcess> {
  const child = spawnShell(options);
  const started = observe(child);
  if (started !== undefined) return started;
  const cause = await new Promise<Error>((resolve) => child.once('error', resolve));
  throw spawnFailed(cause);
}

/** A process that was just started; undefined where none was. */
export function observe(child: ChildProcess): LocalProcess | undefined {
  if (child.pid === undefined) return undefined;
  const exit = new Promise<ProcessExit>((resolve) =>
    child.once('exit', (code, signal) => resolve({ code, signal })),
  );
  // A process that is not in the table has come and gone: it matches none that comes later.
  const main = readProcess(child.pid) ?? { pid: child.pid, startTime: 'ended', startOrder: 0 };
  return { child, main, newerThan: child.pid, exit };
}

function spawnShell({ jobId, commandLine, folder, environment, secrets }: SpawnOptions): ChildProcess {
  const { file, args, windowsVerbatimArguments } = shellCommand(
    commandLine,
    process.platform,
    process.env.ComSpec,
  );
  try {
    return spawn(file, args, {
      cwd: folder,
      env: { ...environment, ...secrets, [jobCookieName]: jobId },
      stdio: ['ignore', 'pipe', 'pipe'],
      // A group and session of its own, so that all of it can be signalled and no terminal is shared.
      detached: process.platform !== 'win32',
      windowsHide: true,
      windowsVerbatimArguments,
    });
  } catch (cause) {
    // Some of the system's refusals (E2BIG, for one) are thrown, the others are emitted.
    throw spawnFailed(cause);
  }
}

function spawnFailed(cause: unknown): CodedError {
  return new CodedError('spawn_failed', 'The system could not start a shell for the command.', { cause });
}
