import type { MessageFromDaemon } from '../../daemon/contract/daemon.ts';
import type { DaemonProcess, LaunchDaemon } from './daemon-process.ts';
import type { DaemonState, RunningDaemon } from './daemon-state.ts';
import { RestartBudget } from './restart-budget.ts';
import { TokenRequests } from './token-requests.ts';

const handshakeMs = 15_000;
const attachedCheckMs = 2_000;

export type SupervisorOptions = {
  launch: LaunchDaemon;
  /** Looks for a daemon of somebody else on the same data folder; text says why one was refused. */
  findRunning: () => Promise<RunningDaemon | string | null>;
  isRunning: (daemon: RunningDaemon) => Promise<boolean>;
  onChange: (state: DaemonState) => void;
  budget?: RestartBudget;
};

/**
 * Keeps one daemon running: starts it, waits for its ready message, starts it again within a budget when
 * it dies, and attaches to the one that holds the data folder when there is one.
 */
export class DaemonSupervisor {
  readonly #options: SupervisorOptions;
  readonly #budget: RestartBudget;
  readonly #tokens = new TokenRequests();
  #state: DaemonState = { kind: 'stopped' };
  #process: DaemonProcess | null = null;
  #timer: NodeJS.Timeout | undefined;
  #stopping = false;

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.#budget = options.budget ?? new RestartBudget();
  }

  get state(): DaemonState {
    return this.#state;
  }

  /** Starts the daemon, with the whole restart budget. Does nothing while one is running or starting. */
  start(): void {
    if (this.#stopping || (this.#state.kind !== 'stopped' && this.#state.kind !== 'failed')) return;
    this.#budget.refill();
    this.#launch();
  }

  /** A fresh one-time login token; `null` when the daemon is not ours to ask, or does not answer in 5 s. */
  async mintLoginToken(): Promise<string | null> {
    if (this.#state.kind !== 'running' || this.#process === null) return null;
    this.#process.post({ type: 'mint-login-token' });
    return await this.#tokens.next();
  }

  /** Ends our daemon and its jobs; after `withinMs` it is killed. An attached daemon is left alone. */
  async stop(withinMs: number): Promise<void> {
    this.#stopping = true;
    clearTimeout(this.#timer);
    const running = this.#process;
    if (running !== null) {
      running.post({ type: 'shutdown' });
      if (!(await endsWithin(running, withinMs))) {
        running.kill();
        await running.exited;
      }
    }
    this.#change({ kind: 'stopped' });
  }

  #launch(): void {
    this.#change({ kind: 'starting' });
    let failure: string | null = null;
    const launched = this.#options.launch((message) => {
      if (this.#process !== launched) return;
      if (message.type === 'failed') failure = message.message;
      this.#receive(message);
    });
    this.#process = launched;
    this.#timer = setTimeout(() => {
      failure = `The daemon did not report ready within ${handshakeMs / 1000} seconds.`;
      launched.kill();
    }, handshakeMs);
    void launched.exited.then((code) => this.#ended(failure ?? `The daemon ended with exit code ${code}.`));
  }

  #receive(message: MessageFromDaemon): void {
    switch (message.type) {
      case 'ready':
        clearTimeout(this.#timer);
        this.#change({ kind: 'running', listening: message.listening, jobs: 0 });
        return;
      case 'jobs':
        if (this.#state.kind === 'running') this.#change({ ...this.#state, jobs: message.running });
        return;
      case 'login-token':
        this.#tokens.settle(message.token);
        return;
      case 'failed':
        return; // its exit follows, and is what is acted on
      default:
        message satisfies never;
    }
  }

  async #ended(reason: string): Promise<void> {
    clearTimeout(this.#timer);
    const wasReady = this.#state.kind === 'running';
    this.#process = null;
    this.#tokens.drop();
    if (this.#stopping) return;
    this.#change({ kind: 'starting' });
    // Only a daemon that never became ready can have found the folder held by another.
    const found = wasReady ? null : await this.#options.findRunning();
    if (this.#stopping) return;
    if (found !== null && typeof found !== 'string') return this.#attach(found);
    const delayMs = this.#budget.take();
    if (delayMs === null) {
      this.#change({ kind: 'failed', reason: found ?? reason });
      return;
    }
    this.#timer = setTimeout(() => this.#launch(), delayMs);
  }

  #attach(daemon: RunningDaemon): void {
    if (this.#state.kind !== 'attached') this.#change({ kind: 'attached', daemon });
    this.#timer = setTimeout(async () => {
      const alive = await this.#options.isRunning(daemon);
      if (this.#stopping) return;
      if (alive) this.#attach(daemon);
      else this.#launch();
    }, attachedCheckMs);
  }

  #change(state: DaemonState): void {
    this.#state = state;
    this.#options.onChange(state);
  }
}

async function endsWithin(running: DaemonProcess, withinMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(resolve, withinMs, false);
  });
  const ended = await Promise.race([running.exited.then(() => true), late]);
  clearTimeout(timer);
  return ended;
}
