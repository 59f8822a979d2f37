import { CodedError } from '../contract/errors.ts';
import { type OpenFolder, openFolderInside } from '../lib/open-folder.ts';

/**
 * The folder of a workspace that a command is to run in, opened and checked.
 *
 * @throws CodedError invalid_request, path_outside_workspace, folder_not_found
 */
export function openCwd(root: string, cwd: string): OpenFolder {
  if (cwd.includes('\0')) throw new CodedError('invalid_request', 'cwd must not contain NUL.');
  try {
    return openFolderInside(root, cwd);
  } catch (error) {
    throw cwdError(error, cwd);
  }
}

function cwdError(error: unknown, cwd: string): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  switch (code) {
    case 'outside_root':
      return new CodedError('path_outside_workspace', 'cwd leads out of the workspace.', { cause: error });
    case 'ENOENT':
      return new CodedError(
        'folder_not_found',
        cwd === '' ? 'The workspace folder is no longer there.' : 'There is no such folder in the workspace.',
        { cause: error },
      );
    case 'ENOTDIR':
      return new CodedError('folder_not_found', 'cwd is not a folder.', { cause: error });
    case 'EACCES':
    case 'EPERM':
      return new CodedError('folder_not_found', 'The folder may not be entered.', { cause: error });
    case 'ELOOP':
    case 'ENAMETOOLONG':
      return new CodedError('folder_not_found', 'cwd can not be followed to a folder.', { cause: error });
    default:
      return error;
  }
}
