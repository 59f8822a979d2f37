import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { endWithUs } from './end-with-us.ts';

const startTimeoutMs = 30_000;
const stopTimeoutMs = 10_000;

export interface ChildServer extends AsyncDisposable {
  pid: number;
  /** The JSON line that it printed once it accepted requests. */
  ready: Record<string, unknown> & { url: string };
}

/**
 * Starts a program that prints one JSON line with its `url` when it listens. Disposing ends that process, by
 * its own pid, and waits for it. Fails when it exits first or says nothing for 30 s, with the end of its stderr.
 */
export async function startServer(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<ChildServer> {
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  endWithUs(child);
  let complaints = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaints = (complaints + text).slice(-2000);
  });
  try {
    const line = await firstLine(child);
    const ready = JSON.parse(line);
    if (typeof ready.url !== 'string' || child.pid === undefined) throw new Error(`no url in ${line}`);
    return { pid: child.pid, ready, [Symbol.asyncDispose]: () => stop(child) };
  } catch (cause) {
    await stop(child);
    throw new Error(`${args.join(' ')} did not start: ${complaints}`, { cause });
  }
}

async function firstLine(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error('stdout is not a pipe');
  const lines = createInterface({ input: child.stdout });
  const timeout = AbortSignal.timeout(startTimeoutMs);
  const exited = once(child, 'exit', { signal: timeout }).then(([code]) => {
    throw new Error(`it ended with ${code}`);
  });
  const [line] = await Promise.race([once(lines, 'line', { signal: timeout }), exited]);
  exited.catch(() => {}); // its later exit is the one we cause
  return String(line);
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  const lastResort = setTimeout(() => child.kill('SIGKILL'), stopTimeoutMs);
  await exited;
  clearTimeout(lastResort);
}
