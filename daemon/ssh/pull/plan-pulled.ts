import { CodedError } from '../../contract/errors.ts';
import { fromBytePath } from '../../lib/byte-path.ts';
import { PathChangedError } from '../../lib/confined-folder.ts';
import { statInside } from '../../lib/confined-reads.ts';
import type { ContentHash } from '../../lib/content-hash.ts';
import { systemErrorCode } from '../../lib/durable-errors.ts';
import { readEntryInTurns } from '../../lib/read-entry.ts';
import type { Step } from '../../mutations/mutation-plan.ts';

export interface Pulled {
  readonly content: Buffer;
  /** Of `content`. */
  readonly hashed: ContentHash;
}

/**
 * What it takes for the file at byte path `path` to have the content that was pulled: nothing where it has it already.
 *
 * @throws CodedError conflict where something else than a file or a folder is in the way; the system's error
 */
export async function planPulled(root: string, path: string, { content, hashed }: Pulled): Promise<Step[]> {
  checkWay(root, path);
  const found = await readEntryInTurns(root, path);
  if (found?.stat.kind === 'link') throw new PathChangedError(path, 'The file has become a link.');
  if (found?.state.hash === hashed.hash) return [];
  return [
    {
      kind: 'write',
      path,
      before: found?.state ?? null,
      beforeBytes: found?.bytes ?? null,
      after: { mode: found?.state.mode ?? '100644', size: content.length, ...hashed },
      content,
      expect: found?.stat ?? 'absent',
    },
  ];
}

/**
 * Links in the project are not followed: a file from elsewhere is to be at the path that says where it is from.
 *
 * @throws CodedError conflict; the system's error
 */
export function checkWay(root: string, path: string): void {
  const parts = path.split('/');
  for (let count = 1; count <= parts.length; count += 1) {
    const part = parts.slice(0, count).join('/');
    const wanted = count === parts.length ? 'file' : 'folder';
    const stat = statInside(root, part);
    if (stat === null) return;
    if (stat.kind !== wanted)
      throw new CodedError('conflict', `In the workspace, ${fromBytePath(part).path} is not a ${wanted}.`);
  }
}

const refusals: Readonly<Record<string, string>> = {
  EACCES: 'The permissions on the disk do not allow this; nothing was changed.',
  EPERM: 'The system does not allow this; nothing was changed.',
  EROFS: 'The disk is mounted read-only; nothing was changed.',
};

/** What the caller is told of a workspace that does not take the file; what is no expected failure stays as it is. */
export function asWriteError(error: unknown): unknown {
  if (error instanceof CodedError) return error;
  const code = systemErrorCode(error) ?? '';
  if (error instanceof PathChangedError || ['ENOTDIR', 'EISDIR', 'EEXIST', 'ENOENT'].includes(code))
    return new CodedError('conflict', 'The place of the file is being changed by something else.', {
      cause: error,
    });
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return new CodedError('storage_full', 'The disk is full; nothing was changed.', { cause: error });
  if (code === 'EIO' || code === 'EMFILE' || code === 'ENFILE')
    return new CodedError('storage_failed', 'The disk refused; nothing was changed.', { cause: error });
  if (code === 'ENAMETOOLONG' || code === 'EINVAL' || code === 'EILSEQ')
    return new CodedError('remote_name_refused', 'The file system of the workspace takes no such name.', {
      cause: error,
    });
  const detail = refusals[code];
  return detail === undefined ? error : new CodedError('conflict', detail, { cause: error });
}
