import { CodedError } from '../contract/errors.ts';
import { statInside } from '../lib/confined-reads.ts';
import type { EntryStat } from '../lib/entry-stat.ts';
import { readEntryInTurns } from '../lib/read-entry.ts';
import type { Step } from '../mutations/mutation-plan.ts';
import { collectEntries } from './collect-entries.ts';
import { type Conditions, checkConditions } from './etags.ts';
import { fileNotFound, notAFile, textOf } from './locate.ts';

export interface DeletePlanOptions extends Pick<Conditions, 'ifMatch'> {
  /** Whether a folder may go, with all that is in it. */
  readonly recursive: boolean;
}

/**
 * What it takes to remove what is at a real byte path: a link itself, not what it leads to.
 *
 * @throws CodedError file_not_found, not_a_file, conflict, too_many_files, path_reserved
 */
export async function planDelete(root: string, path: string, options: DeletePlanOptions): Promise<Step[]> {
  const { ifMatch, recursive } = options;
  const stat = statInside(root, path);
  if (stat?.kind === 'folder') {
    if (!recursive)
      throw new CodedError(
        'not_a_file',
        `${textOf(path)} is a folder; with recursive=true it is deleted with all in it.`,
      );
    if (ifMatch !== undefined)
      throw new CodedError('conflict', 'A folder has no content for If-Match to name.');
    return planFolder(root, path, stat);
  }
  const found = stat === null ? null : await readEntryInTurns(root, path);
  checkConditions({ ifMatch, ifNoneMatch: undefined }, found?.state.hash ?? null);
  if (stat === null) throw fileNotFound(path);
  if (found === null) throw notAFile(path, 'a device, socket or pipe');
  return [removal(path, found)];
}

/** Files first, then folders, inmost first: each is empty when its turn comes. */
async function planFolder(root: string, folder: string, stat: EntryStat): Promise<Step[]> {
  const { files, folders } = await collectEntries(root, folder, stat);
  return [
    ...files.map(({ path, found }) => removal(path, found)),
    ...folders.toReversed().map(
      (emptied): Step => ({
        kind: 'remove',
        path: `${emptied.path}/`,
        before: { mode: '040000', hash: 'absent', size: 0, oid: null },
        beforeBytes: null,
        expect: emptied.stat,
      }),
    ),
  ];
}

function removal(path: string, found: NonNullable<Awaited<ReturnType<typeof readEntryInTurns>>>): Step {
  return { kind: 'remove', path, before: found.state, beforeBytes: found.bytes, expect: found.stat };
}
