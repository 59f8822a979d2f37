import { execFile } from 'node:child_process';
import { release } from 'node:os';

/** Long enough for a disk that has gigabytes of others to write. */
const maxMs = 120_000;

/**
 * Makes everything that was written to the file system of `folder` survive power loss, at the price of one journal commit:
 * syncing a thousand small files one by one costs a thousand, and holds up everyone else's changes meanwhile.
 *
 * @returns false where the system can't, or does not tell of failures (Linux before 5.8): then each file has to be synced
 */
export async function syncFilesystem(folder: string): Promise<boolean> {
  if (process.platform !== 'linux' || !tellsOfFailures(release())) return false;
  return new Promise((resolve) => {
    execFile('sync', ['-f', '--', folder], { timeout: maxMs, env: {} }, (error) => resolve(error === null));
  });
}

/** syncfs(2): "From Linux 5.8 onwards, syncfs() will report an error if one or more inodes failed to be written back". */
export function tellsOfFailures(kernel: string): boolean {
  const [major = 0, minor = 0] = kernel.split('.').map((part) => Number.parseInt(part, 10));
  return major > 5 || (major === 5 && minor >= 8);
}
