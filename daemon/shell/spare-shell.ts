import { type ChildProcess, spawn } from 'node:child_process';
import { newestPid } from '../lib/process-table.ts';
import { jobCookieName } from './child-environment.ts';
import { type LocalProcess, observe, type SpawnOptions } from './job-process.ts';

/**
 * One shell started ahead, that waits on its standard input to be told what to become. Starting a process blocks the
 * event loop for longer than all the rest of a short command takes; so that is done between commands, not before a
 * command's first byte.
 *
 * The shell has the environment of all commands, a session of its own and its own pipes from the start. It replaces
 * itself (`exec`) by the same `sh -c` that would have been started, with the job's cookie in its environment.
 */
export class SpareShell implements Disposable {
  readonly #environment: Readonly<Record<string, string>>;
  #spare: LocalProcess | undefined;
  #disposed = false;

  constructor(environment: Readonly<Record<string, string>>) {
    this.#environment = environment;
  }

  /** Starts a shell where none waits. It is no failure if that can't be done now: commands then start their own. */
  prepare(): void {
    if (this.#spare !== undefined || this.#disposed || process.platform === 'win32') return;
    const child = startWaiting(this.#environment);
    const spare = child === undefined ? undefined : observe(child);
    if (spare === undefined) return;
    this.#spare = spare;
    void spare.exit.then(() => {
      if (this.#spare === spare) this.#spare = undefined;
    });
  }

  /** The waiting shell, which is running the command from now on; undefined where none waits. */
  take({ jobId, commandLine, folder, secrets }: SpawnOptions): LocalProcess | undefined {
    const spare = this.#spare;
    if (spare === undefined || spare.child.exitCode !== null || spare.child.signalCode !== null)
      return undefined;
    this.#spare = undefined;
    // What it starts is newer than this, however long the shell itself has waited.
    const newerThan = newestPid();
    spare.child.stdin?.end(
      becoming({
        jobId,
        commandLine,
        secrets,
        folder: folder.replace('/proc/self/', `/proc/${process.pid}/`),
      }),
    );
    return { ...spare, newerThan };
  }

  [Symbol.dispose](): void {
    this.#disposed = true;
    // It ends by itself when its input does.
    this.#spare?.child.stdin?.end();
    this.#spare = undefined;
  }
}

function startWaiting(environment: Readonly<Record<string, string>>): ChildProcess | undefined {
  try {
    const child = spawn('/bin/sh', ['-s'], {
      cwd: '/',
      env: environment,
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: true,
    });
    // The shell may end before it is told anything; then a command starts its own.
    child.stdin.on('error', () => undefined);
    child.on('error', () => undefined);
    return child;
  } catch {
    // No process to be had now: the next command will say so, if that is still true.
    return undefined;
  }
}

/** `-P`: the folder is named by a descriptor of ours, and the command must see its real path. */
function becoming({
  jobId,
  commandLine,
  folder,
  secrets,
}: Pick<SpawnOptions, 'jobId' | 'commandLine' | 'folder' | 'secrets'>): string {
  const exports = Object.entries(secrets).map(([name, value]) => `export ${name}=${quote(value)}\n`);
  return `cd -P ${quote(folder)} || exit 126
unset OLDPWD
${exports.join('')}${jobCookieName}=${jobId} exec /bin/sh -c ${quote(commandLine)} </dev/null
`;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
