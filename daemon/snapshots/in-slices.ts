import { setImmediate as nextTurn } from 'node:timers/promises';

const sliceMs = 15;

/** Takes all the steps, but gives everyone else in this thread a turn after some milliseconds; false where it was stopped. */
export async function inSlices(steps: Iterable<void>, isStopped: () => boolean): Promise<boolean> {
  let end = performance.now() + sliceMs;
  for (const _ of steps) {
    if (performance.now() < end) continue;
    await nextTurn();
    if (isStopped()) return false;
    end = performance.now() + sliceMs;
  }
  return true;
}
