import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { endWithUs } from './end-with-us.ts';

export interface Finished {
  stdout: string;
  /** From before the process was made until it had exited. */
  seconds: number;
}

/** Runs a program to its end, within `timeoutMs`; fails with the end of its stderr unless it exits with 0. */
export async function runProgram(
  file: string,
  args: readonly string[],
  timeoutMs: number,
): Promise<Finished> {
  const started = performance.now();
  const child = spawn(file, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
  });
  endWithUs(child);
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-2000);
  });
  const closed = once(child, 'close');
  const [code, signal] = await once(child, 'exit');
  const seconds = (performance.now() - started) / 1000;
  await closed;
  if (code !== 0) throw new Error(`${file} ended with ${code ?? signal}: ${stderr}`);
  return { stdout, seconds };
}

/** Runs one of the bench's own clients with `input` as JSON; what it prints is its JSON answer. */
export async function runClient<Answer>(program: string, input: unknown, timeoutMs: number): Promise<Answer> {
  const { stdout } = await runProgram(process.execPath, [program, JSON.stringify(input)], timeoutMs);
  return JSON.parse(stdout);
}
