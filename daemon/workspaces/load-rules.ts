import { type BigIntStats, constants } from 'node:fs';
import { access, opendir, realpath, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, isAbsolute, parse, relative, sep } from 'node:path';
import { CodedError } from '../contract/errors.ts';
import { systemFolders } from './system-folders.ts';

export interface LoadRules {
  readonly dataDir: string;
  readonly homeDir?: string;
  readonly platform?: NodeJS.Platform;
}

/** A folder that may be loaded: its real path, and what the system knows it by. */
export interface LoadableFolder {
  readonly path: string;
  readonly identity: FolderIdentity;
}

export type FolderIdentity = string;

/**
 * Which folders may become workspaces: judged by real path, and by device and inode, so that links, bind mounts and
 * other spellings of a name make no difference.
 *
 * @throws CodedError invalid_request, project_path_missing, project_path_unreadable, project_path_system (its member
 * `reason` says which rule: system_folder, home_folder, data_folder)
 */
export async function checkLoadable(path: string, rules: LoadRules): Promise<LoadableFolder> {
  if (path.includes('\0')) throw new CodedError('invalid_request', 'path must not contain NUL.');
  if (!isAbsolute(path)) throw new CodedError('invalid_request', 'path must be absolute.');
  const { real, stats } = await resolve(path);
  if (!stats.isDirectory())
    throw new CodedError('project_path_unreadable', 'There is no folder at this path but a file.', {
      members: { reason: 'not_a_folder' },
    });
  await refuseOwnFolders(real, stats, rules);
  await refuseSystemFolders(real, stats, rules.platform ?? process.platform);
  await checkReadable(real);
  return { path: real, identity: identityOf(stats) };
}

/** What tells a folder from all others while it exists. Big integers: as numbers, those of Windows lose their last bits. */
export function identityOf({ dev, ino }: Pick<BigIntStats, 'dev' | 'ino'>): FolderIdentity {
  return `${dev}:${ino}`;
}

async function resolve(path: string): Promise<{ real: string; stats: BigIntStats }> {
  try {
    const real = await realpath(path);
    return { real, stats: await stat(real, { bigint: true }) };
  } catch (error) {
    throw pathError(error);
  }
}

async function refuseOwnFolders(
  real: string,
  stats: BigIntStats,
  { dataDir, homeDir = homedir() }: LoadRules,
): Promise<void> {
  const home = await describe(homeDir);
  if (home !== undefined && (identityOf(stats) === home.identity || isInside(home.real, real)))
    throw refused(
      'home_folder',
      'Load a project folder, not your home folder itself or one that it lies in.',
    );
  const data = await describe(dataDir);
  if (data === undefined) return;
  if (
    identityOf(stats) === data.identity ||
    isInside(data.real, real) ||
    (await hasAncestor(real, data.identity))
  )
    throw refused('data_folder', "This is the service's own data folder, or one around or in it.");
}

/** Walks up from the folder; the first that is known decides, so that a place for projects wins over the tree around it. */
async function refuseSystemFolders(
  real: string,
  stats: BigIntStats,
  platform: NodeJS.Platform,
): Promise<void> {
  const { trees, folders, places } = systemFolders(platform);
  const [inTrees, itself] = await Promise.all([identitiesOf(trees), identitiesOf([...folders, ...places])]);
  if (parse(real).root === real || itself.has(identityOf(stats))) throw systemRefusal(real);
  for (let folder = real; parse(folder).root !== folder; folder = dirname(folder)) {
    if (places.includes(folder)) return;
    const described = await describe(folder);
    if (described !== undefined && inTrees.has(described.identity)) throw systemRefusal(real);
  }
}

async function identitiesOf(paths: readonly string[]): Promise<ReadonlySet<FolderIdentity | undefined>> {
  return new Set((await Promise.all(paths.map(describe))).map((folder) => folder?.identity));
}

async function checkReadable(real: string): Promise<void> {
  try {
    await access(real, constants.R_OK | constants.X_OK);
    await (await opendir(real)).close();
  } catch (error) {
    throw pathError(error);
  }
}

function pathError(cause: unknown): CodedError {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  if (code === 'ENOENT' || code === 'ENOTDIR')
    return new CodedError('project_path_missing', 'There is no folder at this path.', { cause });
  return new CodedError(
    'project_path_unreadable',
    `The folder can't be read (${String(code ?? 'unknown error')}).`,
    { cause },
  );
}

async function describe(path: string): Promise<{ real: string; identity: FolderIdentity } | undefined> {
  try {
    const real = await realpath(path);
    return { real, identity: identityOf(await stat(real, { bigint: true })) };
  } catch {
    // A folder that isn't on this system can't be the one that is asked for.
    return undefined;
  }
}

async function hasAncestor(real: string, identity: FolderIdentity): Promise<boolean> {
  for (let folder = real; dirname(folder) !== folder; folder = dirname(folder)) {
    if ((await describe(folder))?.identity === identity) return true;
  }
  return false;
}

/** Whether `path` lies below `folder` (not: is it). */
function isInside(path: string, folder: string, platform: NodeJS.Platform = process.platform): boolean {
  const [inner, outer] = platform === 'linux' ? [path, folder] : [path.toLowerCase(), folder.toLowerCase()];
  const rest = relative(outer, inner);
  return rest !== '' && rest !== '..' && !rest.startsWith(`..${sep}`) && !isAbsolute(rest);
}

function refused(reason: string, detail: string): CodedError {
  return new CodedError('project_path_system', detail, { members: { reason } });
}

function systemRefusal(real: string): CodedError {
  return refused('system_folder', `${real} belongs to the operating system; load a project folder.`);
}
