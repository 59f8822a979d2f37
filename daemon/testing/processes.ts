import { setTimeout as delay } from 'node:timers/promises';
import { readProcess } from '../lib/process-table.ts';

export function isRunning(pid: number): boolean {
  const entry = readProcess(pid);
  return entry !== undefined && !entry.zombie;
}

/** Resolves when `condition` holds; throws with `what` after a generous limit. The pause is between looks, not a guess. */
export async function until(
  what: string,
  condition: () => boolean | Promise<boolean>,
  limitMs = 15_000,
): Promise<void> {
  const deadline = performance.now() + limitMs;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`waited ${limitMs} ms in vain until ${what}`);
    await delay(10);
  }
}
