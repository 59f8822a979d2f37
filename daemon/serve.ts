import { createInterface } from 'node:readline';
import { type Config, readConfig } from './config.ts';
import type { ListeningEvent } from './contract/daemon.ts';
import type { Daemon } from './daemon.ts';
import { DataFolderHeldError, DataFolderLockBrokenError } from './lib/data-folder-holder.ts';
import { runDaemon } from './run-daemon.ts';

/** `tallystick serve`: the daemon in a terminal, or under another program with `--json`. Answers the exit status. */
export async function serve(args: readonly string[]): Promise<number> {
  const { config, json } = readConfig(args, process.env);
  // On a terminal the log would bury the link; warnings still show.
  const interactive = !json && process.stdout.isTTY && process.env.TALLYSTICK_LOG === undefined;
  const logLevel = interactive ? 'warn' : config.logLevel;
  const never = new Promise<void>(() => undefined);
  const announce = (daemon: Daemon) => (json ? announceJson(daemon, config) : announceLink(daemon));
  try {
    const status = await runDaemon({ ...config, logLevel }, announce, never);
    // Handles that others left open must not keep a daemon alive that has ended.
    process.exit(status);
  } catch (error) {
    process.stderr.write(`tallystick: ${explain(error, config)}\n`);
    return 1;
  }
}

function announceJson(daemon: Daemon, { dataDir }: Config): void {
  const event: ListeningEvent = {
    event: 'listening',
    url: daemon.url,
    pid: process.pid,
    data_dir: dataDir,
    login_token: daemon.mintLoginToken(),
    version: daemon.version,
  };
  process.stdout.write(`${JSON.stringify(event)}\n`);
}

function announceLink(daemon: Daemon): void {
  process.stdout.write(`Tallystick ${daemon.version} is listening on ${daemon.url}\n`);
  printLink(daemon);
  if (!process.stdin.isTTY) return;
  process.stdout.write('Press Enter for a new link, Ctrl-C to stop.\n');
  createInterface({ input: process.stdin }).on('line', () => printLink(daemon));
}

function printLink(daemon: Daemon): void {
  process.stdout.write(
    `Open the panel (the link works once, for five minutes):\n  ${daemon.url}/#token=${daemon.mintLoginToken()}\n`,
  );
}

const folderErrors = ['EACCES', 'EPERM', 'ENOSPC', 'EROFS', 'ENOTDIR', 'EEXIST', 'ELOOP', 'ENAMETOOLONG'];

function explain(error: unknown, { dataDir, port }: Config): string {
  if (error instanceof DataFolderHeldError || error instanceof DataFolderLockBrokenError)
    return error.message;
  if (!(error instanceof Error)) return String(error);
  const { code, syscall }: NodeJS.ErrnoException = error;
  if (code === 'EADDRINUSE')
    return `port ${port} is in use by another program; choose one with --port (0 picks a free one)`;
  if (syscall === 'listen')
    return `port ${port} can't be listened on (${code}); choose one with --port (0 picks a free one)`;
  if (code !== undefined && folderErrors.includes(code))
    return `the data folder ${dataDir} can't be used: ${error.message}`;
  return error.stack ?? error.message;
}
