import type { Config } from './config.ts';
import { createDaemon, type Daemon } from './daemon.ts';

/** Signals that ask the daemon to end. */
const endSignals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;
/** Disposing is bounded by itself; this is for the case that it is not. */
const lastResortMs = 4_900;

/**
 * Runs a daemon in this process until it is asked to end, or can't go on. Answers the process's exit status.
 *
 * @throws whatever `createDaemon` throws
 */
export async function runDaemon(
  config: Config,
  onListening: (daemon: Daemon) => void,
  endRequested: Promise<void>,
): Promise<number> {
  const daemon = await createDaemon(config);
  const ended = Promise.withResolvers<number>();
  for (const signal of endSignals) process.on(signal, () => ended.resolve(0));
  process.on('uncaughtException', (error) => {
    process.stderr.write(`tallystick: ${error.stack ?? error.message}\n`);
    ended.resolve(1);
  });
  void endRequested.then(() => ended.resolve(0));
  void daemon.failed.then((error) => {
    process.stderr.write(`tallystick: the disk failed a write, the daemon ends: ${error.message}\n`);
    ended.resolve(1);
  });
  onListening(daemon);
  const status = await ended.promise;
  const lastResort = setTimeout(() => process.exit(1), lastResortMs);
  try {
    await daemon[Symbol.asyncDispose]();
    return status;
  } catch (error) {
    // A full disk, for one: what could not be written are times of last use and recent commands.
    process.stderr.write(
      `tallystick: not everything could be written: ${error instanceof Error ? error.message : String(error)}\n`,
    );
    return 1;
  } finally {
    clearTimeout(lastResort);
  }
}
