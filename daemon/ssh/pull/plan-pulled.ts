import { CodedError, type ErrorCode } from '../../contract/errors.ts';
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
function checkWay(root: string, path: string): void {
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

const refusals: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  EACCES: ['conflict', 'The permissions on the disk do not allow this; nothing was changed.'],
  EPERM: ['conflict', 'The system does not allow this; nothing was changed.'],
  EROFS: ['conflict', 'The disk is mounted read-only; nothing was changed.'],
  ENOSPC: ['storage_full', 'The disk is full; nothing was changed.'],
  EDQUOT: ['storage_full', 'The quota of the disk is used up; nothing was changed.'],
  EIO: ['storage_failed', 'The disk failed; nothing was changed.'],
  ENAMETOOLONG: ['remote_name_refused', 'The name is longer than the file system of the workspace allows.'],
  EINVAL: ['remote_name_refused', 'The file system of the workspace takes no such name.'],
  EILSEQ: ['remote_name_refused', 'The file system of the workspace takes no such name.'],
};

/** What the caller is told where the disk of the workspace refuses; what is no expected failure stays as it is. */
export function asWriteError(error: unknown): unknown {
  if (error instanceof CodedError) return error;
  const refusal = refusals[systemErrorCode(error) ?? ''];
  return refusal === undefined ? error : new CodedError(...refusal, { cause: error });
}
