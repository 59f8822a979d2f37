import type { Fault } from '../../contract/receipts.ts';
import type { TaskRunner } from './run-tasks.ts';
import type { ChainPlace, RangeResult, RangeTask } from './verify-range.ts';

export interface ChainTask {
  readonly folder: string;
  readonly index: number;
  readonly indexSize: number;
  readonly wsId: string;
  readonly genesis: string;
  readonly signedLines: number;
  readonly markSeq: number;
  readonly onProgress: (checked: number) => void;
  /** Bytes of the index that are verified at a time. */
  readonly rangeBytes?: number;
}

export interface ChainResult {
  /** Receipts that were found right, from the first. */
  readonly checked: number;
  /** self_hash of the last of them; the genesis hash where there is none. */
  readonly lastHash: string;
  readonly markedHash: string | undefined;
  /** The first. */
  readonly fault: Fault | undefined;
}

/** Small enough that progress is told some fifty times in a chain of 100,000. */
const usualRangeBytes = 2 * 1024 * 1024;

/**
 * Verifies the receipts of an index in ranges, several at once, and that each range follows the one before. A range
 * begins where its first line says; only then is that compared, so no thread waits for another.
 */
export async function verifyChain(runner: TaskRunner, task: ChainTask): Promise<ChainResult> {
  const { onProgress, genesis, rangeBytes = usualRangeBytes, ...shared } = task;
  let place: ChainPlace = { seq: 1, prevHash: genesis };
  let markedHash: string | undefined;
  for await (const { range, result: found } of inOrder(runner, shared, rangeBytes)) {
    const follows = found.from?.seq === place.seq && found.from.prevHash === place.prevHash;
    const empty = found.from === undefined && found.fault === undefined;
    if (empty) continue;
    // Where something is wrong it is looked at again, with what the range before demands of its first line.
    const result =
      follows && found.fault === undefined ? found : await runner.verifyRange({ ...range, from: place });
    place = { seq: place.seq + result.receipts, prevHash: result.lastHash ?? place.prevHash };
    markedHash ??= result.markedHash;
    onProgress(place.seq - 1);
    if (result.fault !== undefined)
      return { checked: place.seq - 1, lastHash: place.prevHash, markedHash, fault: result.fault };
  }
  return { checked: place.seq - 1, lastHash: place.prevHash, markedHash, fault: undefined };
}

interface DoneRange {
  readonly range: RangeTask;
  readonly result: RangeResult;
}

/** Results in the order of the index. One range more than there are threads is on its way, so that none has to wait. */
async function* inOrder(
  runner: TaskRunner,
  shared: Omit<RangeTask, 'start' | 'end'>,
  rangeBytes: number,
): AsyncGenerator<DoneRange> {
  const pending: Promise<DoneRange>[] = [];
  for (let start = 0; start < shared.indexSize || pending.length > 0; ) {
    for (; pending.length <= 2 * runner.threads && start < shared.indexSize; start += rangeBytes) {
      const range = { ...shared, start, end: Math.min(start + rangeBytes, shared.indexSize) };
      const done = runner.verifyRange(range).then((result) => ({ range, result }));
      // It is awaited in its turn; until then a failure is nobody's.
      done.catch(() => undefined);
      pending.push(done);
    }
    const next = pending.shift();
    if (next !== undefined) yield await next;
  }
}
