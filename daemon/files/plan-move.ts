import { CodedError } from '../contract/errors.ts';
import { PathChangedError } from '../lib/confined-folder.ts';
import { statInside } from '../lib/confined-reads.ts';
import type { EntryStat } from '../lib/entry-stat.ts';
import { readEntryInTurns } from '../lib/read-entry.ts';
import type { Step } from '../mutations/mutation-plan.ts';
import { collectEntries } from './collect-entries.ts';
import { fileNotFound, notAFile, textOf } from './locate.ts';
import { checkParent } from './plan-write.ts';

type Rename = Step & { readonly kind: 'rename' };

export interface MovePlanOptions {
  /** Real byte paths; of a link at the end, the link itself is meant. */
  readonly from: string;
  readonly to: string;
  /** Whether a file at `to` may be replaced. */
  readonly overwrite: boolean;
}

/**
 * What it takes to move a file, link or folder to a path of its own (never into a folder that is there).
 *
 * @throws CodedError file_not_found, file_exists, conflict, invalid_request, not_a_file, too_many_files, path_reserved
 */
export async function planMove(root: string, { from, to, overwrite }: MovePlanOptions): Promise<Rename[]> {
  const moving = statInside(root, from);
  if (moving === null) throw fileNotFound(from);
  if (to.startsWith(`${from}/`))
    throw new CodedError('invalid_request', `${textOf(from)} can not be moved into itself.`);
  if (to === from) return [];
  checkParent(root, to);
  const standing = statInside(root, to);
  // On a file system that knows no case, the new spelling leads to the very file that is moved.
  const itself = standing !== null && isSpellingOf(from, to) && isSame(moving, standing);
  const replaced =
    standing === null || itself ? null : await readReplaced(root, to, { moving, standing, overwrite });
  return [
    {
      kind: 'rename',
      from,
      to,
      moved: await readMoved(root, moving, { from, to }),
      replaced: replaced === null ? null : { state: replaced.state, bytes: replaced.bytes },
      expect: { from: moving, to: replaced?.stat ?? 'absent' },
    },
  ];
}

interface Collision {
  readonly moving: EntryStat;
  readonly standing: EntryStat;
  readonly overwrite: boolean;
}

async function readReplaced(root: string, to: string, { moving, standing, overwrite }: Collision) {
  if (standing.kind === 'folder' || moving.kind === 'folder')
    throw new CodedError('file_exists', `There is a ${standing.kind} at ${textOf(to)} already.`);
  if (!overwrite)
    throw new CodedError(
      'file_exists',
      `There is a file at ${textOf(to)} already; overwrite: true replaces it.`,
    );
  const found = await readEntryInTurns(root, to);
  if (found === null) throw notAFile(to, 'a device, socket or pipe');
  return found;
}

async function readMoved(
  root: string,
  moving: EntryStat,
  { from, to }: Pick<MovePlanOptions, 'from' | 'to'>,
): Promise<Rename['moved']> {
  const target = (path: string) => to + path.slice(from.length);
  if (moving.kind !== 'folder') {
    const found = await readEntryInTurns(root, from);
    if (found === null) throw notAFile(from, 'a device, socket or pipe');
    if (found.stat.ino !== moving.ino) throw new PathChangedError(from, 'The file is another by now.');
    return [{ from, to, state: found.state, bytes: found.bytes }];
  }
  const { files, folders } = await collectEntries(root, from, moving);
  const empty = folders.filter((folder) => folder.empty);
  return [
    ...files.map(({ path, found }) => ({
      from: path,
      to: target(path),
      state: found.state,
      bytes: found.bytes,
    })),
    ...empty.map(({ path }) => ({
      from: `${path}/`,
      to: `${target(path)}/`,
      state: { mode: '040000', hash: 'absent', size: 0, oid: null } as const,
      bytes: null,
    })),
  ];
}

const isSame = (a: EntryStat, b: EntryStat) => a.ino === b.ino && a.dev === b.dev;

function isSpellingOf(a: string, b: string): boolean {
  const fold = (path: string) => textOf(path).normalize('NFC').toLowerCase();
  return fold(a) === fold(b);
}
