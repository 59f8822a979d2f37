export type QuitSteps = {
  runningJobs: () => number;
  /** Asks the user whether to end that many commands. */
  confirm: (jobs: number) => Promise<boolean>;
  /** Ends the daemon, its jobs first; bounded. */
  stopDaemon: () => Promise<void>;
  cleanUp: () => Promise<void>;
  exit: () => void;
};

/**
 * Quitting, in its order: ask if commands are running, end the daemon, clean up, exit. Asked for again
 * while it is under way it goes on; without asking (a signal, the end of the session) it no longer waits
 * for the user.
 */
export class QuitSequence {
  readonly #steps: QuitSteps;
  #phase: 'idle' | 'asking' | 'ending' | 'done' = 'idle';

  constructor(steps: QuitSteps) {
    this.#steps = steps;
  }

  get isEnding(): boolean {
    return this.#phase === 'ending' || this.#phase === 'done';
  }

  async begin({ ask }: { ask: boolean }): Promise<void> {
    if (this.isEnding || (ask && this.#phase === 'asking')) return;
    const jobs = this.#steps.runningJobs();
    if (ask && jobs > 0) {
      this.#phase = 'asking';
      const agreed = await this.#steps.confirm(jobs);
      if (this.isEnding) return; // a signal came while the question was open
      if (!agreed) {
        this.#phase = 'idle';
        return;
      }
    }
    this.#phase = 'ending';
    try {
      await this.#steps.stopDaemon();
      await this.#steps.cleanUp();
    } finally {
      this.#phase = 'done';
      this.#steps.exit();
    }
  }
}
