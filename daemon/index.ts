import { ConfigError, readConfig } from './config.ts';
import type { ListeningEvent, MessageFromDaemon, MessageToDaemon } from './contract/daemon.ts';
import type { Daemon } from './daemon.ts';
import { DataFolderHeldError } from './lib/data-folder-holder.ts';
import { runDaemon } from './run-daemon.ts';
import { version } from './version.ts';

/** What Electron gives a utility process to speak with the one that started it. */
interface ParentPort {
  postMessage(message: MessageFromDaemon): void;
  on(event: 'message', listener: (event: { readonly data: MessageToDaemon }) => void): void;
}

/** How often the desktop learns of the number of jobs, for its tray and its question before it quits. */
const reportEveryMs = 200;

/** Entry of the desktop's utility process: the daemon, with the process channel in the place of a terminal. */
async function main(port: ParentPort): Promise<number> {
  const shutdown = Promise.withResolvers<void>();
  const { config } = readConfig(process.argv.slice(2), process.env);
  const onListening = (daemon: Daemon) => {
    port.on('message', ({ data }) => {
      switch (data.type) {
        case 'shutdown':
          shutdown.resolve();
          return;
        case 'mint-login-token':
          port.postMessage({ type: 'login-token', token: daemon.mintLoginToken() });
          return;
        default:
          data satisfies never;
      }
    });
    reportJobs(port, daemon);
    port.postMessage({ type: 'ready', listening: listeningEvent(daemon, config.dataDir) });
  };
  return runDaemon(config, onListening, shutdown.promise);
}

function reportJobs(port: ParentPort, daemon: Daemon): void {
  let reported = -1;
  setInterval(() => {
    const running = daemon.runningJobs();
    if (running === reported) return;
    reported = running;
    port.postMessage({ type: 'jobs', running });
  }, reportEveryMs).unref();
}

function listeningEvent(daemon: Daemon, dataDir: string): ListeningEvent {
  return {
    event: 'listening',
    url: daemon.url,
    pid: process.pid,
    data_dir: dataDir,
    login_token: daemon.mintLoginToken(),
    version,
  };
}

function describeFailure(error: unknown): string {
  if (error instanceof DataFolderHeldError || error instanceof ConfigError) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** Plain Node has no such member; the types of Electron, where they are loaded, say that it always has. */
function readParentPort(): ParentPort | undefined {
  return Reflect.get(process, 'parentPort');
}

const parentPort = readParentPort();
if (parentPort === undefined) {
  process.stderr.write('This is the entry of the desktop; on a terminal run "tallystick serve".\n');
  process.exitCode = 2;
} else {
  main(parentPort).then(
    (status) => process.exit(status),
    (error: unknown) => {
      process.stderr.write(`tallystick: ${describeFailure(error)}\n`);
      parentPort.postMessage({ type: 'failed', message: describeFailure(error) });
      // The message needs a turn of the loop to leave; nothing else is left to do.
      setTimeout(() => process.exit(1), 100);
    },
  );
}
