import { once } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { workerFile } from '../../lib/worker-file.ts';
import { hashIndex, type IndexHashTask } from './index-hash.ts';
import { type RangeResult, type RangeTask, RangeVerifier } from './verify-range.ts';

/** Does the parts of a verification, as many at once as it has threads. */
export interface TaskRunner extends AsyncDisposable {
  readonly threads: number;
  verifyRange(task: RangeTask): Promise<RangeResult>;
  hashIndex(task: IndexHashTask): Promise<string>;
}

/** What a worker thread is sent; it answers with what the function of that name does. */
export type WorkerTask =
  | { readonly kind: 'range'; readonly task: RangeTask }
  | { readonly kind: 'hash'; readonly task: IndexHashTask };

export type WorkerMessage = WorkerTask | 'end';

/** Works in this thread, and lets others have their turn before each part: for short chains. */
export function inlineRunner(): TaskRunner {
  const verifier = new RangeVerifier();
  return {
    threads: 1,
    verifyRange: async (task) => {
      await setImmediate();
      return verifier.verify(task);
    },
    hashIndex: async (task) => hashIndex(task),
    [Symbol.asyncDispose]: async () => {},
  };
}

interface Thread {
  readonly worker: Worker;
  /** Rejects when the thread ends. */
  readonly ended: Promise<never>;
}

/** Starts worker threads; they end when it is disposed of, each with the task it is at. */
export function threadRunner(threads: number): TaskRunner {
  const all = Array.from({ length: threads }, startThread);
  const idle = [...all];
  const waiting: ((thread: Thread) => void)[] = [];
  const run = async <Answer>(task: WorkerTask): Promise<Answer> => {
    const thread = idle.pop() ?? (await new Promise<Thread>((resolve) => waiting.push(resolve)));
    thread.worker.postMessage(task);
    const [answer] = await Promise.race([once(thread.worker, 'message'), thread.ended]);
    const next = waiting.shift();
    if (next === undefined) idle.push(thread);
    else next(thread);
    return answer;
  };
  return {
    threads,
    verifyRange: (task) => run<RangeResult>({ kind: 'range', task }),
    hashIndex: (task) => run<string>({ kind: 'hash', task }),
    [Symbol.asyncDispose]: async () => {
      for (const { worker } of all) worker.postMessage('end' satisfies WorkerMessage);
      // Terminating a thread at work can take the whole process along: V8 aborts in it. A task takes a moment only.
      await Promise.all(all.map(({ ended }) => ended.catch(() => undefined)));
    },
  };
}

function startThread(): Thread {
  const worker = new Worker(workerFile('receipts/verifier/verify-worker'), { execArgv: [] });
  const ended = once(worker, 'exit').then(() => {
    throw new Error('A thread of the verification ended before its answer.');
  });
  // Whoever waits for an answer is told; at the end nobody waits.
  ended.catch(() => undefined);
  return { worker, ended };
}
