import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { ListeningEvent } from '../../daemon/contract/daemon.ts';
import type { CreatedSession } from '../../daemon/contract/session.ts';
import { type Client, client } from '../../daemon/testing/client.ts';

const root = join(import.meta.dirname, '../..');
const command = join(root, 'dist/daemon/tallystick.js');

export interface CommandOptions {
  readonly env?: NodeJS.ProcessEnv;
  /** Runs it as this user. */
  readonly uid?: number;
  readonly cwd?: string;
}

export interface Finished {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Builds the daemon where that was not done yet. */
export async function buildOnce(): Promise<void> {
  if (existsSync(command)) return;
  const build = spawn(process.execPath, ['scripts/build.ts', 'daemon'], { cwd: root, stdio: 'inherit' });
  await new Promise((resolve) => build.once('exit', resolve));
}

/** The built command, as a user runs it. */
export class RunningCommand implements AsyncDisposable {
  readonly child: ChildProcessByStdio<null, Readable, Readable>;
  readonly finished: Promise<Finished>;
  stdout = '';
  stderr = '';

  constructor(args: readonly string[], { env, uid, cwd }: CommandOptions = {}) {
    const user = uid === undefined ? {} : { uid, gid: uid };
    this.child = spawn(process.execPath, [command, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, TALLYSTICK_LOG: 'info', ...env },
      cwd: cwd ?? root,
      ...user,
    });
    this.child.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.stdout += text;
    });
    this.child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text;
    });
    this.finished = new Promise((resolve, reject) => {
      this.child.once('error', reject);
      this.child.once('close', (status) => resolve({ status, stdout: this.stdout, stderr: this.stderr }));
    });
  }

  /** The first line on standard output; throws with what was said where the command ends before. */
  async firstLine(): Promise<string> {
    for (;;) {
      const end = this.stdout.indexOf('\n');
      if (end >= 0) return this.stdout.slice(0, end);
      const more = new Promise((resolve) => this.child.stdout.once('data', () => resolve(true)));
      const ended = this.finished.then(() => false);
      if (!(await Promise.race([more, ended])) && !this.stdout.includes('\n'))
        throw new Error(`the command ended without a line: ${this.stderr}`);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.child.kill('SIGKILL');
    await this.finished;
  }
}

/** Runs the command to its end. */
export async function finish(args: readonly string[], options?: CommandOptions): Promise<Finished> {
  return new RunningCommand(args, options).finished;
}

export interface ServedDaemon extends AsyncDisposable {
  readonly process: RunningCommand;
  readonly listening: ListeningEvent;
  readonly panel: Client;
}

/** `tallystick serve --json` on a free port, and a signed-in client. */
export async function serveDaemon(
  dataDir: string,
  { args = [], ...options }: CommandOptions & { readonly args?: readonly string[] } = {},
): Promise<ServedDaemon> {
  const process = new RunningCommand(
    ['serve', '--json', '--port', '0', '--data-dir', dataDir, ...args],
    options,
  );
  try {
    const listening = ListeningEvent.parse(JSON.parse(await process.firstLine()));
    const stranger = client(listening.url);
    const { session_token } = await stranger.json<CreatedSession>('POST', '/api/session', {
      token: listening.login_token,
    });
    const end = () => process[Symbol.asyncDispose]();
    return { process, listening, panel: client(listening.url, session_token), [Symbol.asyncDispose]: end };
  } catch (error) {
    await process[Symbol.asyncDispose]();
    throw error;
  }
}
