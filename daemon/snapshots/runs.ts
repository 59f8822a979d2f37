interface Run {
  /** Commands of the run that are under way: an agent's run may have several. */
  commands: number;
  /** It was under way when the last worker died; its command may be begun again. */
  isInterrupted: boolean;
  readonly concurrent: Set<string>;
}

/** The runs that have a command under way, and which were so at the same time. */
export class Runs {
  readonly #running = new Map<string, Run>();

  constructor(interrupted: readonly string[]) {
    for (const runId of interrupted) this.begin(runId, true);
  }

  get isNone(): boolean {
    return this.#running.size === 0;
  }

  begin(runId: string, isInterrupted = false): void {
    const there = this.#running.get(runId);
    if (there?.isInterrupted) there.isInterrupted = false;
    else if (there) there.commands += 1;
    if (there) return;
    const concurrent = new Set(this.#running.keys());
    for (const other of this.#running.values()) other.concurrent.add(runId);
    this.#running.set(runId, { commands: 1, isInterrupted, concurrent });
  }

  /** Answers the others. */
  end(runId: string): string[] {
    const run = this.#running.get(runId);
    if (run === undefined) return [...this.#running.keys()];
    run.commands -= 1;
    if (run.commands === 0) this.#running.delete(runId);
    return [...run.concurrent];
  }
}
