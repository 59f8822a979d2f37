import { type ChildProcess, fork } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { fileURLToPath } from 'node:url';

const bootstrap = fileURLToPath(new URL('./utility-bootstrap.mjs', import.meta.url));

/** A utility process: a real child process, whose channel looks like `process.parentPort` inside. */
class UtilityProcessDouble extends EventEmitter {
  readonly #child: ChildProcess;

  constructor(entry: string, args: string[]) {
    super();
    this.#child = fork(bootstrap, [entry, ...args], {
      execArgv: [],
      serialization: 'advanced',
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    this.#child.once('spawn', () => this.emit('spawn'));
    this.#child.on('message', (message) => this.emit('message', message));
    // Electron reports one number for an exit code and for death by a signal alike.
    this.#child.once('close', (code) => this.emit('exit', code ?? 1));
  }

  get pid(): number | undefined {
    return this.#child.exitCode === null && this.#child.signalCode === null ? this.#child.pid : undefined;
  }

  get stdout() {
    return this.#child.stdout;
  }

  get stderr() {
    return this.#child.stderr;
  }

  /** A process that has gone loses what is sent to it, without an error. */
  postMessage(message: object): void {
    if (this.#child.connected) this.#child.send(message, () => undefined);
  }

  kill(): boolean {
    return this.#child.kill('SIGTERM');
  }
}

export const utilityProcess = {
  fork: (entry: string, args: string[] = []) => new UtilityProcessDouble(entry, args),
};
