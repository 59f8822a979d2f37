import { mkdir } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { systemErrorCode } from './durable-errors.ts';
import { syncFolderOf } from './durable-file.ts';

/**
 * Makes the folder at `path`, and the folders above it that are missing, with mode 0700. From the moment the
 * promise resolves their names survive power loss: without that, so would no file in them. Folders that are
 * there keep their mode.
 */
export async function makeFolderDurably(path: string): Promise<void> {
  const folder = resolve(path);
  try {
    await mkdir(folder, { mode: 0o700 });
  } catch (error) {
    if (systemErrorCode(error) === 'EEXIST') return;
    if (systemErrorCode(error) !== 'ENOENT' || dirname(folder) === folder) throw error;
    await makeFolderDurably(dirname(folder));
    await makeFolderDurably(folder);
    return;
  }
  await syncFolderOf(folder);
}
