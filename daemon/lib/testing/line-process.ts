import type { ChildProcessByStdio } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';

/** How a process ended. */
export interface Ending {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** A Node script that is spoken to in lines. Its file calls all run in one thread, so that they can be counted. */
export class LineProcess implements AsyncDisposable {
  readonly pid: number;
  readonly ended: Promise<Ending>;
  /** Every line it has printed. */
  readonly lines: string[] = [];
  /** What it has written on standard error, for the message of a test that fails. */
  errors = '';
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #news = new EventTarget();

  static start(script: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): LineProcess {
    const child = spawn(process.execPath, [script, ...args], {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: { ...process.env, UV_THREADPOOL_SIZE: '1', ...env },
    });
    return new LineProcess(child);
  }

  private constructor(child: ChildProcessByStdio<Writable, Readable, Readable>) {
    if (child.pid === undefined) throw new Error('the process could not be started');
    this.pid = child.pid;
    this.#child = child;
    // A process that is killed closes its end while we may be writing to it; its ending tells enough.
    child.stdin.on('error', () => undefined);
    createInterface({ input: child.stdout }).on('line', (line) => {
      this.lines.push(line);
      this.#news.dispatchEvent(new Event('line'));
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.errors += text;
    });
    this.ended = once(child, 'close').then(([code, signal]) => ({ code, signal }));
    void this.ended.then(() => this.#news.dispatchEvent(new Event('line')));
  }

  send(line: string): void {
    this.#child.stdin.write(`${line}\n`);
  }

  /** The first line printed from now on, or already, that `wanted` takes; undefined if the process ends before. */
  async line(wanted: (line: string) => boolean): Promise<string | undefined> {
    const ended = this.ended.then(() => true);
    for (;;) {
      const found = this.lines.find(wanted);
      if (found !== undefined) return found;
      if (await Promise.race([ended, once(this.#news, 'line').then(() => false)])) {
        return this.lines.find(wanted);
      }
    }
  }

  kill(signal: NodeJS.Signals = 'SIGKILL'): void {
    this.#child.kill(signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.kill();
    await this.ended;
  }
}
