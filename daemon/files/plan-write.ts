import { CodedError } from '../contract/errors.ts';
import { parentOf } from '../lib/byte-path.ts';
import { PathChangedError } from '../lib/confined-folder.ts';
import { statInside } from '../lib/confined-reads.ts';
import type { hashContentInTurns } from '../lib/content-hash.ts';
import { type FoundEntry, readEntryInTurns } from '../lib/read-entry.ts';
import type { Step } from '../mutations/mutation-plan.ts';
import { type Conditions, checkConditions } from './etags.ts';
import { textOf, whyNoFile } from './locate.ts';

export interface PlannedWrite {
  /** Empty where the file has this content already. */
  readonly steps: readonly Step[];
  readonly etag: string;
  readonly size: number;
  readonly created: boolean;
}

export interface WritePlanOptions extends Conditions {
  readonly content: Buffer;
  /** Of `content`. */
  readonly hashed: Awaited<ReturnType<typeof hashContentInTurns>>;
}

/**
 * What it takes for the file at a real byte path to have this content.
 *
 * @throws CodedError not_a_file, conflict; PathChangedError; the system's error
 */
export async function planWrite(
  root: string,
  path: string,
  options: WritePlanOptions,
): Promise<PlannedWrite> {
  const found = await readRegular(root, path);
  checkConditions(options, found?.state.hash ?? null);
  if (found === null) {
    refuseNoFile(root, path);
    checkParent(root, path);
  }
  return planContent(path, found, options);
}

/** The step that gives the file found at `path` (or none) its new content. */
export function planContent(
  path: string,
  found: FoundEntry | null,
  { content, hashed }: Pick<WritePlanOptions, 'content' | 'hashed'>,
): PlannedWrite {
  const result = { etag: hashed.hash, size: content.length, created: found === null };
  if (found?.state.hash === hashed.hash) return { ...result, steps: [] };
  const mode = found?.state.mode ?? '100644';
  return {
    ...result,
    steps: [
      {
        kind: 'write',
        path,
        before: found?.state ?? null,
        beforeBytes: found?.bytes ?? null,
        after: { mode, size: content.length, ...hashed },
        content,
        expect: found?.stat ?? 'absent',
      },
    ],
  };
}

/** The file at a path whose links were followed: one that is a link by now is looked at again. */
export async function readRegular(root: string, path: string): Promise<FoundEntry | null> {
  const found = await readEntryInTurns(root, path);
  if (found?.stat.kind === 'link') throw new PathChangedError(path, 'The file has become a link.');
  return found;
}

function refuseNoFile(root: string, path: string): void {
  const why = whyNoFile(root, path);
  if (why.code === 'not_a_file') throw why;
}

/** Says so before anything is begun where a file stands in the place of a folder. */
export function checkParent(root: string, path: string): void {
  for (let folder = parentOf(path); folder !== ''; folder = parentOf(folder)) {
    const stat = statInside(root, folder);
    if (stat?.kind === 'folder') return;
    if (stat !== null) throw new CodedError('conflict', `${textOf(folder)} is not a folder.`);
  }
}
