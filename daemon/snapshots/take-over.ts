import { type Baseline, changesOf } from './baseline.ts';
import type { BaselineLog } from './baseline-log.ts';
import type { TreeChange } from './entry-state.ts';
import type { Finding } from './tree-scanner.ts';

/**
 * The first look at a tree whose last keeper died while these runs were under way: what differs from the baseline it
 * left is their doing, and so is what they were handed, but may have got no receipt for. Whoever of them ends first is
 * handed all of it.
 */
export function takeOver(
  findings: readonly Finding[],
  { baseline, log, interrupted }: { baseline: Baseline; log: BaselineLog; interrupted: readonly string[] },
): void {
  const found = changesOf(findings);
  const left = withoutThose([...log.carried], found);
  const handed = withoutThose(log.takeHanded(interrupted), [...left, ...found]);
  log.setCarried(interrupted.length === 0 ? [] : [...left, ...handed, ...found]);
  baseline.commit(findings);
}

/** The same change can be in two places, as the one is written before the other is removed. */
function withoutThose(changes: readonly TreeChange[], others: readonly TreeChange[]): TreeChange[] {
  const keyOf = ({ path, before }: TreeChange) => `${before?.mode} ${before?.hash} ${path}`;
  const known = new Set(others.map(keyOf));
  return changes.filter((change) => !known.has(keyOf(change)));
}
