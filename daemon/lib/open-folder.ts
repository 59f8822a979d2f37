import { closeSync, constants, openSync, readlinkSync, realpathSync } from 'node:fs';
import { isAbsolute, join, normalize, relative, sep } from 'node:path';

/** A folder that is held open, so that what stands at its path can't be swapped for something else. */
export interface OpenFolder {
  /** Names the very folder that was checked; valid until `close`. Good as a process's `cwd`. */
  readonly path: string;
  /** Relative to the root, with `/`; `.` for the root itself. */
  readonly relativePath: string;
  close(): void;
}

export class OutsideRootError extends Error {
  readonly code = 'outside_root';
}

/**
 * Opens a folder below `root`, which must be a real path (no links in it).
 *
 * @throws OutsideRootError where it leads out of the root, by its name or by links; else the system's error: ENOENT,
 * ENOTDIR, EACCES, ENAMETOOLONG, ELOOP
 */
export function openFolderInside(root: string, requested: string): OpenFolder {
  const inside = normalize(requested === '' ? '.' : requested);
  if (isAbsolute(inside) || inside === '..' || inside.startsWith(`..${sep}`))
    throw new OutsideRootError('path leads out of the root');
  const candidate = join(root, inside);
  return process.platform === 'linux' ? openByDescriptor(root, candidate) : openByName(root, candidate);
}

/** Linux: the check and the use are on one file descriptor, so a swap between the two changes nothing. */
function openByDescriptor(root: string, candidate: string): OpenFolder {
  const descriptor = openSync(candidate, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NONBLOCK);
  try {
    // A child that is started there resolves /proc/self to itself; it still has the descriptor until it executes.
    const path = `/proc/self/fd/${descriptor}`;
    const relativePath = insideOrThrow(root, readlinkSync(path));
    return { path, relativePath, close: () => closeSync(descriptor) };
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

/** Elsewhere the real path is checked and used; a swap in the instant between the two would not be seen. */
function openByName(root: string, candidate: string): OpenFolder {
  const path = realpathSync.native(candidate);
  return { path, relativePath: insideOrThrow(root, path), close: () => undefined };
}

function insideOrThrow(root: string, realPath: string): string {
  const inside = relative(root, realPath);
  if (isAbsolute(inside) || inside === '..' || inside.startsWith(`..${sep}`))
    throw new OutsideRootError('path leads out of the root');
  return inside === '' ? '.' : inside.replaceAll(sep, '/');
}
