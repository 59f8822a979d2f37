import {
  linkInside,
  makeFolderInside,
  removeEmptyParents,
  removeInside,
  renameInside,
  writeInside,
} from '../lib/confined-fs.ts';
import { statInside } from '../lib/confined-reads.ts';
import { StorageFailedError, systemErrorCode } from '../lib/durable-errors.ts';
import type { EntryState } from '../snapshots/entry-state.ts';
import type { Step } from './mutation-plan.ts';

/** Takes back what was done; called at most once. */
export type Undo = () => void;

/**
 * Takes the steps, in order, all or none: where one can't be taken, those before it are taken back and its error is
 * thrown.
 *
 * @throws PathChangedError where something else stands at a path than was planned for; the system's error;
 * StorageFailedError, fatal where what was done could not be taken back
 */
export function applySteps(root: string, steps: readonly Step[]): Undo {
  const undos: Undo[] = [];
  const undoAll = () => {
    try {
      for (const undo of undos.toReversed()) undo();
    } catch (cause) {
      throw new StorageFailedError(root, true, { cause });
    }
  };
  for (const step of steps) {
    try {
      undos.push(applyStep(root, step));
    } catch (error) {
      undoAll();
      // The project's disk is not the daemon's own: a change that it refused is no reason to end.
      if (systemErrorCode(error) === 'EIO') throw new StorageFailedError(step.kind, false, { cause: error });
      throw error;
    }
  }
  return undoAll;
}

function applyStep(root: string, step: Step): Undo {
  switch (step.kind) {
    case 'write':
      return applyWrite(root, step);
    case 'remove':
      removeInside(root, step.path, { expect: step.expect });
      if (step.pruneParents === true) removeEmptyParents(root, step.path, () => false);
      return () => putBack(root, step.path, step.before, step.beforeBytes);
    case 'folder': {
      const made = makeFolderInside(root, step.path);
      return () => removeFolders(root, made);
    }
    case 'rename': {
      const { from, to, expect, replaced } = step;
      const { madeFolders } = renameInside(root, from, to, expect);
      return () => {
        renameInside(root, to, from, { from: 'anything', to: 'absent' });
        if (replaced !== null) putBack(root, to, replaced.state, replaced.bytes);
        removeFolders(root, madeFolders);
      };
    }
  }
}

function applyWrite(root: string, step: Step & { kind: 'write' }): Undo {
  const { path, before, beforeBytes, after, content, expect } = step;
  const { madeFolders } = put(root, path, after, content, expect);
  return () => {
    if (before === null) removeInside(root, path, { expect: 'anything' });
    else putBack(root, path, before, beforeBytes);
    removeFolders(root, madeFolders);
  };
}

function put(
  root: string,
  path: string,
  state: EntryState,
  content: Buffer,
  expect: (Step & { kind: 'write' })['expect'],
) {
  if (state.mode === '120000') return linkInside(root, path, content, { expect });
  const executable = state.mode === '100755';
  const old = expect === 'anything' ? statInside(root, path) : expect === 'absent' ? null : expect;
  // A file keeps its permissions, but for the bits that the change is about; a new one gets them by the umask.
  if (old?.kind !== 'file') return writeInside(root, path, content, { expect, executable });
  return writeInside(root, path, content, { expect, mode: withExecutable(old.mode, executable) });
}

function withExecutable(mode: number, executable: boolean): number {
  if (((mode & 0o100) !== 0) === executable) return mode;
  // Whoever may read it may run it, as `git checkout` does.
  return executable ? mode | ((mode & 0o444) >> 2) : mode & ~0o111;
}

function putBack(root: string, path: string, state: EntryState, bytes: Buffer | null): void {
  if (state.mode === '040000') makeFolderInside(root, path);
  else if (bytes === null) throw new Error(`the content of ${path} was too large to be kept`);
  else put(root, path, state, bytes, 'anything');
}

/** Folders that were made for a change, outermost first; one that others use by now stays. */
function removeFolders(root: string, made: readonly string[]): void {
  const innermost = made.at(-1);
  if (innermost !== undefined) removeEmptyParents(root, `${innermost}/.`, (folder) => !made.includes(folder));
}
