import { type JobProcess, type SpawnOptions, startProcess } from './job-process.ts';
import { terminateTree } from './kill-tree.ts';
import type { SpareShell } from './spare-shell.ts';

/** In this time, pids don't go all the way round. */
const youngMs = 5000;

/**
 * A command in a shell of its own, by one that was started ahead where one waits.
 *
 * @throws CodedError spawn_failed where the system gives no process
 */
export async function startLocal(options: SpawnOptions, spare?: SpareShell): Promise<JobProcess> {
  const startedAt = performance.now();
  const { child, main, newerThan, exit } = spare?.take(options) ?? (await startProcess(options));
  return {
    stdout: child.stdout,
    stderr: child.stderr,
    pid: main.pid,
    main,
    exit,
    terminate: (terms) =>
      terminateTree(
        { jobId: options.jobId, main },
        { ...terms, newerThan: performance.now() - startedAt < youngMs ? newerThan : undefined },
      ),
  };
}
