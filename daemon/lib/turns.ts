import { setImmediate as nextTurn } from 'node:timers/promises';

/** Long work in the event loop goes on for so many milliseconds at a stretch. */
const turnMs = 10;

/** Lets others have their turn in the midst of long work. */
export class Turns {
  #endsMs = performance.now() + turnMs;

  /** To be awaited between two pieces of work, each of which takes a few milliseconds at the most. */
  async pause(): Promise<void> {
    if (performance.now() < this.#endsMs) return;
    await nextTurn();
    this.#endsMs = performance.now() + turnMs;
  }
}
