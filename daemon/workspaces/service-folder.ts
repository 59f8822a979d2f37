import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Path of the project's `.service/` folder, which is made here, when something is first to be kept in it. Its own
 * `.gitignore` keeps all of it out of the project's history.
 */
export async function ensureServiceFolder(projectPath: string): Promise<string> {
  const folder = join(projectPath, '.service');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  try {
    await writeFile(join(folder, '.gitignore'), '*\n', { flag: 'wx' });
  } catch (error) {
    // One that is there is kept, whoever wrote it.
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
  return folder;
}
