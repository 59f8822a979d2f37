import type { Baseline } from './baseline.ts';
import type { BaselineLog } from './baseline-log.ts';
import type { Digest } from './blob.ts';
import type { ObjectStore } from './object-store.ts';
import type { SnapshotRing } from './snapshot-ring.ts';
import type { SnapshotLimits } from './tree-calls.ts';

export interface Kept {
  readonly store: ObjectStore;
  readonly ring: SnapshotRing;
  readonly baseline: Baseline;
  readonly log: BaselineLog;
  readonly limits: SnapshotLimits;
}

const maxGarbageBytes = 64 * 1024 * 1024;

/** Drops snapshots over the limits, and rewrites packs where there are many or much in them is not needed any more. */
export function tidyStore({ store, ring, baseline, log, limits }: Kept): void {
  const inTree = once(() => idsInTree(baseline));
  if (ring.mayExceed(limits, (id) => store.sizeOf(id)))
    baseline.replacedBytes += ring.prune(limits, (id) => (inTree().has(id) ? 0 : store.sizeOf(id)));
  const isMuch = baseline.replacedBytes > Math.min(maxGarbageBytes, limits.maxBytes / 4);
  if (!isMuch && !store.needsMerge) return;
  const inRing = ring.ids();
  const waiting = new Set(log.needed());
  store.compact((id) => inTree().has(id) || inRing.has(id) || waiting.has(id));
  baseline.replacedBytes = 0;
}

function idsInTree(baseline: Baseline): Set<Digest> {
  const ids = new Set<Digest>();
  for (const [, { id }] of baseline.index.leavesBelow('')) if (id) ids.add(id);
  return ids;
}

function once<Result>(make: () => Result): () => Result {
  let made: { readonly result: Result } | undefined;
  return () => {
    made ??= { result: make() };
    return made.result;
  };
}
