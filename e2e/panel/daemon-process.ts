import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { ListeningEvent } from '../../daemon/contract/daemon.ts';

export type DaemonOptions = {
  dataDir: string;
  port?: number;
  /** Beside the test's own environment; undefined takes a variable out of it. */
  environment?: Record<string, string | undefined>;
  args?: string[];
};

/** A real daemon in a process of its own. `stop` ends it as a service manager would and waits for it. */
export type DaemonProcess = {
  url: string;
  port: number;
  loginToken: string;
  /** What it has written to stderr: its log. */
  log: () => string;
  stop: () => Promise<void>;
  /** Ends it as a power failure would. */
  kill: () => Promise<void>;
};

/** The master key of the daemons that one test file starts: one that comes again finds its secrets. */
const masterKey = `${randomBytes(32).toString('base64url')}=`;

export async function startDaemon(options: DaemonOptions): Promise<DaemonProcess> {
  const { dataDir, port = 0, environment, args = [] } = options;
  const program = join(import.meta.dirname, '../../dist/daemon/tallystick.js');
  const child = spawn(
    process.execPath,
    [program, 'serve', '--json', '--port', String(port), '--data-dir', dataDir, ...args],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, SERVICE_SECRET_KEY: masterKey, ...environment },
    },
  );
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    log += text;
  });
  const listening = await readyLine(child, () => log);
  return {
    url: listening.url,
    port: Number(new URL(listening.url).port),
    loginToken: listening.login_token,
    log: () => log,
    stop: () => end(child, 'SIGTERM'),
    kill: () => end(child, 'SIGKILL'),
  };
}

async function end(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill(signal);
  await once(child, 'exit');
}

async function readyLine(child: ChildProcess, log: () => string): Promise<ListeningEvent> {
  if (child.stdout === null) throw new Error('The daemon has no stdout');
  for await (const line of createInterface({ input: child.stdout })) return JSON.parse(line);
  throw new Error(`The daemon ended before it listened:\n${log()}`);
}
