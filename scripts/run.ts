import { spawn } from 'node:child_process';
import { join } from 'node:path';

export const root = join(import.meta.dirname, '..');
const bin = join(root, 'node_modules', '.bin');

export interface RunOptions {
  readonly env?: NodeJS.ProcessEnv;
  /** Its standard output goes to our standard error, for what must not stand in our own output. */
  readonly quietStdout?: boolean;
}

/** Runs a program of the project's to its end, with our terminal. Answers its exit status. */
export function run(
  command: string,
  args: readonly string[],
  { env = {}, quietStdout = false }: RunOptions = {},
): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: root,
      stdio: ['inherit', quietStdout ? 2 : 'inherit', 'inherit'],
      shell: process.platform === 'win32',
      env: {
        ...process.env,
        PATH: `${bin}${process.platform === 'win32' ? ';' : ':'}${process.env.PATH}`,
        ...env,
      },
    });
    // On a terminal the child gets Ctrl-C itself; from elsewhere it comes through us.
    const forward = (signal: NodeJS.Signals) => child.kill(signal);
    process.on('SIGTERM', forward);
    process.on('SIGHUP', forward);
    process.on('SIGINT', forward);
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve(code ?? (signal === null ? 1 : 128)));
  });
}
