/** How long to wait before restart 1, 2, 3 within the window; there is no fourth. */
const backOffMs = [500, 1_000, 2_000] as const;
const windowMs = 60_000;

/** Restarts a daemon may have: three within a minute, each after a longer wait. */
export class RestartBudget {
  readonly #now: () => number;
  #spentAt: number[] = [];

  constructor(now: () => number = performance.now.bind(performance)) {
    this.#now = now;
  }

  /** Takes one restart and says how many milliseconds to wait before it; `null` when none is left. */
  take(): number | null {
    const now = this.#now();
    this.#spentAt = this.#spentAt.filter((spent) => now - spent < windowMs);
    const delayMs = backOffMs[this.#spentAt.length];
    if (delayMs === undefined) return null;
    this.#spentAt.push(now);
    return delayMs;
  }

  /** The user asked to try again: all restarts are there again. */
  refill(): void {
    this.#spentAt = [];
  }
}
