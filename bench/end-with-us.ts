import type { ChildProcess } from 'node:child_process';

/** Ends `child` when this process exits before it does, also by a signal that the entry turns into an exit. */
export function endWithUs(child: ChildProcess): void {
  const end = () => child.kill('SIGTERM');
  process.once('exit', end);
  child.once('exit', () => process.off('exit', end));
}
