import { CodedError } from '../contract/errors.ts';
import { PathChangedError } from '../lib/confined-folder.ts';
import { systemErrorCode } from '../lib/durable-errors.ts';
import { OutsideRootError } from '../lib/open-folder.ts';
import { LinkLoopError } from '../lib/resolve-inside.ts';

/** What the caller is told of a file call that failed; what is no expected failure stays as it is. */
export function asFileError(error: unknown): unknown {
  if (error instanceof CodedError) return error;
  if (error instanceof OutsideRootError)
    return new CodedError('path_outside_workspace', 'The path leads out of the workspace.', { cause: error });
  if (error instanceof LinkLoopError)
    return new CodedError('conflict', 'The links of this path lead in a circle.', { cause: error });
  if (error instanceof PathChangedError)
    return new CodedError('conflict', 'The file is being changed by something else at the same time.', {
      cause: error,
    });
  return asSystemRefusal(error);
}

const refusals: Readonly<Record<string, string>> = {
  EACCES: 'The permissions on the disk do not allow this; nothing was changed.',
  EPERM: 'The system does not allow this; nothing was changed.',
  EROFS: 'The disk is mounted read-only; nothing was changed.',
  ENOTDIR: 'A part of the path is a file, not a folder.',
  EISDIR: 'There is a folder at this path.',
  EEXIST: 'There is something at this path already.',
  ENOTEMPTY: 'There is a folder with something in it at this path.',
  EBUSY: 'The file or folder is in use; nothing was changed.',
  ETXTBSY: 'The program is running; nothing was changed.',
  EXDEV: 'The two paths are on different disks; copy and delete instead.',
  ENOENT: 'The file or folder went away in the meantime.',
};

function asSystemRefusal(error: unknown): unknown {
  const code = systemErrorCode(error) ?? '';
  if (code === 'ENAMETOOLONG')
    return new CodedError('invalid_request', 'The path is longer than the file system allows.', {
      cause: error,
    });
  if (code === 'EINVAL' || code === 'EILSEQ')
    return new CodedError('invalid_request', 'The file system takes no such name.', { cause: error });
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return new CodedError('storage_full', 'The disk is full; nothing was changed.', { cause: error });
  if (code === 'EIO' || code === 'EMFILE' || code === 'ENFILE')
    return new CodedError('storage_failed', 'The disk could not be read; nothing was changed.', {
      cause: error,
    });
  const detail = refusals[code];
  return detail === undefined ? error : new CodedError('conflict', detail, { cause: error });
}
