import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { release } from 'node:os';

/** Long enough for a disk that has gigabytes of others to write. */
const maxMs = 120_000;

/**
 * Makes everything that was written to the file systems of `folders` survive power loss, at the price of one journal commit
 * each: syncing a thousand small files one by one costs a thousand, and holds up everyone else's changes meanwhile.
 *
 * @returns for each folder, in order, whether that was done. False where the system can't, does not tell of failures (Linux
 * before 5.8), or told of one: then each file has to be synced
 */
export async function syncFilesystems(folders: readonly string[]): Promise<boolean[]> {
  if (process.platform !== 'linux' || !tellsOfFailures(release())) return folders.map(() => false);
  const synced = new Map<number, Promise<boolean>>();
  return Promise.all(
    folders.map(async (folder) => {
      const { dev } = await stat(folder);
      const syncing = synced.get(dev) ?? sync(folder);
      synced.set(dev, syncing);
      return syncing;
    }),
  );
}

/** syncfs(2): "From Linux 5.8 onwards, syncfs() will report an error if one or more inodes failed to be written back". */
export function tellsOfFailures(kernel: string): boolean {
  const [major = 0, minor = 0] = kernel.split('.').map((part) => Number.parseInt(part, 10));
  return major > 5 || (major === 5 && minor >= 8);
}

function sync(folder: string): Promise<boolean> {
  return new Promise((resolve) => {
    execFile('sync', ['-f', '--', folder], { timeout: maxMs, env: { LC_ALL: 'C' } }, (error) =>
      resolve(error === null),
    );
  });
}
