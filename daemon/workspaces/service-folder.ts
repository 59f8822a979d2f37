import { lstat, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CodedError } from '../contract/errors.ts';

/**
 * Path of the project's `.service/` folder, which is made here, when something is first to be kept in it. Its own
 * `.gitignore` keeps all of it out of the project's history.
 *
 * @throws CodedError path_outside_workspace where the project has a link in its place, conflict where it has a file
 */
export async function ensureServiceFolder(projectPath: string): Promise<string> {
  const folder = join(projectPath, '.service');
  await ignoreExisting(mkdir(folder, { mode: 0o700 }));
  // A repository can bring a link of that name along, to have its reader's secrets written elsewhere.
  const stats = await lstat(folder);
  if (stats.isSymbolicLink())
    throw new CodedError(
      'path_outside_workspace',
      'The .service of this project is a link; it must be a folder.',
    );
  if (!stats.isDirectory())
    throw new CodedError('conflict', 'The .service of this project is a file; it must be a folder.');
  await ignoreExisting(writeFile(join(folder, '.gitignore'), '*\n', { flag: 'wx' }));
  return folder;
}

/**
 * Makes `.service/<name>` a link to a folder of the service, which a command that clears the project can't reach.
 *
 * @throws as `ensureServiceFolder`
 */
export async function linkIntoService(projectPath: string, name: string, target: string): Promise<void> {
  const folder = await ensureServiceFolder(projectPath);
  await ignoreExisting(symlink(target, join(folder, name), 'junction'));
}

/** What is there already is kept, whoever made it. */
async function ignoreExisting(made: Promise<unknown>): Promise<void> {
  try {
    await made;
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
}
