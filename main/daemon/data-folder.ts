import { resolve } from 'node:path';
import envPaths from 'env-paths';

/**
 * The daemon's data folder, the same that `tallystick serve` uses by default; the daemon is told it, so
 * that desktop and daemon look at one lock.
 */
export function dataFolder(environment: NodeJS.ProcessEnv): string {
  const chosen = environment.TALLYSTICK_DATA_DIR;
  return chosen !== undefined && chosen !== ''
    ? resolve(chosen)
    : envPaths('tallystick', { suffix: '' }).data;
}
