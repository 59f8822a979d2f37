import { utilityProcess } from 'electron';
import type { MessageFromDaemon, MessageToDaemon } from '../../daemon/contract/daemon.ts';
import { parseDaemonMessage } from './daemon-message.ts';

/** One run of the daemon. */
export type DaemonProcess = {
  post(message: MessageToDaemon): void;
  /** Ends it at once. Its jobs are swept by the next daemon that starts. */
  kill(): void;
  /** Settles with the exit code when the process is gone. */
  readonly exited: Promise<number>;
};

export type LaunchDaemon = (onMessage: (message: MessageFromDaemon) => void) => DaemonProcess;

/**
 * Starts the daemon in a utility process: the RunAsNode fuse is off, so nothing else in a packaged app
 * can run it. What it prints goes to `write`.
 */
export function daemonLauncher(entry: string, args: string[], write: (text: string) => void): LaunchDaemon {
  return (onMessage) => {
    const child = utilityProcess.fork(entry, args, { serviceName: 'Tallystick daemon', stdio: 'pipe' });
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (chunk: Buffer) => write(chunk.toString()));
    }
    child.on('message', (value: unknown) => {
      const message = parseDaemonMessage(value);
      if (message === null) write('desktop: a message of the daemon was not understood\n');
      else onMessage(message);
    });
    return {
      post: (message) => child.postMessage(message),
      kill: () => killNow(child.pid),
      exited: new Promise((resolve) => child.once('exit', resolve)),
    };
  };
}

/** `utilityProcess.kill()` only asks (SIGTERM); this is for a daemon that did not answer. */
function killNow(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
