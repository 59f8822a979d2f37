import { readEntry } from '../lib/read-entry.ts';
import type { EntryState } from '../snapshots/entry-state.ts';
import { applySteps } from './apply-steps.ts';
import type { Step } from './mutation-plan.ts';

/**
 * Takes those of the steps that an earlier daemon did not come to. A path where neither the state from before nor the one
 * after is found has been changed by somebody since: it is left as it is.
 *
 * @returns false where the system refuses one of them; then none is taken that was not before
 */
export function redoSteps(root: string, steps: readonly Step[]): boolean {
  try {
    applySteps(
      root,
      steps.filter((step) => isDue(root, step)),
    );
    return true;
  } catch {
    // No permission, a folder in the way: the same that would have refused the change in the first place.
    return false;
  }
}

function isDue(root: string, step: Step): boolean {
  switch (step.kind) {
    case 'write':
      return isAt(root, step.path, step.before);
    case 'remove':
      return isAt(root, step.path, step.before);
    case 'folder':
      return isAt(root, step.path, null);
    case 'rename': {
      const [first] = step.moved;
      return first !== undefined && isAt(root, first.from, first.state) && !isAt(root, first.to, first.state);
    }
  }
}

function isAt(root: string, path: string, state: EntryState | null): boolean {
  const found = readEntry(root, path)?.state ?? null;
  return found?.hash === state?.hash && found?.mode === state?.mode;
}
