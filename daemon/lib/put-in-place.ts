import { constants, linkSync, openSync, renameSync, symlinkSync, unlinkSync, writeSync } from 'node:fs';
import { type ConfinedFolder, PathChangedError } from './confined-folder.ts';
import { statIn } from './confined-reads.ts';
import { systemErrorCode } from './durable-errors.ts';
import { type EntryStat, type Expected, isExpected } from './entry-stat.ts';
import { takeRandom } from './ids.ts';

/** Names of files that hold what is about to be renamed into place; a crash can leave one behind. */
export const tempFileName = /^\.tallystick-[0-9a-f]{16}\.tmp$/;

export const tempName = () => `.tallystick-${takeRandom(8).toString('hex')}.tmp`;

/** A new file for what is to be put in place; `mode`, if any, is to be set once it is written. */
export function createIn(
  folder: ConfinedFolder,
  temp: string,
  { mode, executable }: { readonly mode?: number; readonly executable?: boolean },
): number {
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW = 0 } = constants;
  // A file that is to be private is never readable for others, not even half written.
  const initial = mode === undefined ? (executable === true ? 0o777 : 0o666) : mode & 0o700;
  return openSync(folder.entry(temp), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, initial);
}

export function writeAll(file: number, content: Uint8Array): void {
  let at = 0;
  while (at < content.length) at += writeSync(file, content, at, content.length - at, at);
}

export interface Placing {
  readonly temp: string;
  readonly leaf: string;
  readonly path: string;
  readonly expect: Expected;
}

/** @throws PathChangedError where something else than the expected is at `leaf` */
export function putInPlace(folder: ConfinedFolder, placing: Placing): void {
  const { temp, leaf, path, expect } = placing;
  expectIn(folder, leaf, placing);
  if (expect === 'absent' && linked(folder, temp, leaf, path)) return;
  renameSync(folder.entry(temp), folder.entry(leaf));
}

/** A hard link never replaces what another has just put there, as a rename would. False where the disk has none. */
function linked(folder: ConfinedFolder, temp: string, leaf: string, path: string): boolean {
  try {
    linkSync(folder.entry(temp), folder.entry(leaf));
  } catch (error) {
    if (systemErrorCode(error) === 'EEXIST')
      throw new PathChangedError(path, 'Something has appeared at this path.');
    return false;
  }
  unlinkSync(folder.entry(temp));
  return true;
}

export interface NewLink {
  readonly leaf: string;
  readonly path: string;
  readonly target: Uint8Array;
}

/** @throws PathChangedError where there is something already */
export function newLink(folder: ConfinedFolder, { leaf, path, target }: NewLink): void {
  try {
    symlinkSync(Buffer.from(target), folder.entry(leaf));
  } catch (error) {
    if (systemErrorCode(error) !== 'EEXIST') throw error;
    throw new PathChangedError(path, 'Something has appeared at this path.');
  }
}

/** @throws PathChangedError where something else than the expected is there */
export function expectIn(
  folder: ConfinedFolder,
  leaf: string,
  { path, expect }: Pick<Placing, 'path' | 'expect'>,
): EntryStat | null {
  const stat = statIn(folder, leaf);
  if (isExpected(stat, expect)) return stat;
  throw new PathChangedError(path, 'What is at this path has changed.');
}

export function removeQuietly(folder: ConfinedFolder, temp: string): void {
  try {
    unlinkSync(folder.entry(temp));
  } catch {
    // The failure that led here is the one to report; a temporary file that stays is known by its name.
  }
}
