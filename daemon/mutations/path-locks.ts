/** What a caller wants for itself: some paths, or the whole tree. */
export type Wanted = readonly string[] | 'all';

interface Waiter {
  readonly wanted: ReadonlySet<string> | 'all';
  readonly enter: () => void;
}

/** Keeps mutations of the same path one after the other, in the order they came; others go side by side. */
export class PathLocks {
  readonly #held = new Set<Waiter>();
  readonly #waiting: Waiter[] = [];

  /** Resolves with what gives the lock back. */
  async acquire(wanted: Wanted): Promise<() => void> {
    const entered = Promise.withResolvers<void>();
    const waiter: Waiter = {
      wanted: wanted === 'all' ? 'all' : new Set(wanted),
      enter: entered.resolve,
    };
    this.#waiting.push(waiter);
    this.#letIn();
    await entered.promise;
    return () => {
      this.#held.delete(waiter);
      this.#letIn();
    };
  }

  /** First come, first served among those that collide: nobody is overtaken for ever. */
  #letIn(): void {
    const ahead: Waiter[] = [...this.#held];
    for (let at = 0; at < this.#waiting.length; ) {
      const waiter = this.#waiting[at];
      if (waiter === undefined) return;
      if (ahead.some((other) => collide(other.wanted, waiter.wanted))) at += 1;
      else {
        this.#waiting.splice(at, 1);
        this.#held.add(waiter);
        waiter.enter();
      }
      ahead.push(waiter);
      // Whoever waits for the whole tree holds up all that came later.
      if (waiter.wanted === 'all') return;
    }
  }
}

function collide(a: ReadonlySet<string> | 'all', b: ReadonlySet<string> | 'all'): boolean {
  return a === 'all' || b === 'all' || [...a].some((path) => b.has(path));
}
