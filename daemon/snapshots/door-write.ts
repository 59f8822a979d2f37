import { parentOf } from '../lib/byte-path.ts';
import { type Baseline, entryOf } from './baseline.ts';
import type { BaselineLog } from './baseline-log.ts';
import type { TreeChange } from './entry-state.ts';
import { isSameState, stateOf } from './tree-index.ts';

export interface DoorWriteOptions {
  readonly baseline: Baseline;
  readonly log: BaselineLog;
  /** Whether a command may be changing the tree as well. */
  readonly isCommandRunning: boolean;
}

/**
 * The door changed something: the baseline of the path is what the door made of it. What it was not, before, is the
 * doing of the command that is running, and carried over to its end.
 */
export function noteDoorWrite({ path, before, after }: TreeChange, options: DoorWriteOptions): void {
  const { baseline, log, isCommandRunning } = options;
  const name = path.replace(/\/$/, '');
  if (baseline.rules.ignores(name, name !== path)) return;
  const known = baseline.index.get(path);
  const isAsSaid = isSameState(known, before && entryOf(before));
  // A look at the tree may have come before this note: then there is nothing left to tell apart.
  const isMoved = isSameState(known, after && entryOf(after));
  if (isCommandRunning && !isAsSaid && !isMoved)
    log.setCarried([...log.carried, { path, before: stateOf(known), after: before }]);
  baseline.set(path, after);
  if (after === null) noteEmptied(parentOf(name), baseline);
}

/** The door took the last thing out of a folder. */
function noteEmptied(folder: string, baseline: Baseline): void {
  if (folder === '' || baseline.index.hasLeavesBelow(folder)) return;
  const scanner = baseline.scanner();
  scanner.checkEmptiness(folder);
  baseline.commit([...scanner.findings.values()]);
}
