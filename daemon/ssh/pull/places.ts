import { CodedError } from '../../contract/errors.ts';

/** So many may be inside at a time; others wait, first come, first served. */
export class Places {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  /**
   * Resolves when a place is free, with what gives it back.
   *
   * @throws CodedError ssh_failed where the signal came first
   */
  async take(signal?: AbortSignal): Promise<Disposable> {
    if (signal?.aborted === true) throw pullEnded();
    if (this.#free > 0) this.#free -= 1;
    else await this.#turn(signal);
    return { [Symbol.dispose]: once(() => this.#giveBack()) };
  }

  #turn(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const enter = () => {
        signal?.removeEventListener('abort', leave);
        resolve();
      };
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(enter), 1);
        reject(pullEnded());
      };
      this.#waiting.push(enter);
      signal?.addEventListener('abort', leave, { once: true });
    });
  }

  /** To the first who waits, if any: nobody else can take it in between. */
  #giveBack(): void {
    const enter = this.#waiting.shift();
    if (enter === undefined) this.#free += 1;
    else enter();
  }
}

/** The caller has gone, or the daemon ends. */
export const pullEnded = () => new CodedError('ssh_failed', 'The pull was ended before it was done.');

function once(work: () => void): () => void {
  let done = false;
  return () => {
    if (!done) work();
    done = true;
  };
}
