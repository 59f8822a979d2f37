import { once } from 'node:events';
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

/** Works in this thread, and blocks it: for short chains. */
export function inlineRunner(): TaskRunner {
  const verifier = new RangeVerifier();
  return {
    threads: 1,
    verifyRange: async (task) => verifier.verify(task),
    hashIndex: async (task) => hashIndex(task),
    [Symbol.asyncDispose]: async () => {},
  };
}

/** Starts worker threads; they end when it is disposed of, in the middle of a task, too. */
export function threadRunner(threads: number): TaskRunner {
  const idle: Worker[] = [];
  const waiting: ((worker: Worker) => void)[] = [];
  const workers = Array.from({ length: threads }, () => {
    const worker = new Worker(workerFile('receipts/verifier/verify-worker'), { execArgv: [] });
    // An error is told to whoever waits for the answer; with no task under way there is nobody to tell.
    worker.on('error', () => undefined);
    return worker;
  });
  idle.push(...workers);
  const run = async <Answer>(task: WorkerTask): Promise<Answer> => {
    const worker = idle.pop() ?? (await new Promise<Worker>((resolve) => waiting.push(resolve)));
    worker.postMessage(task);
    const [answer] = await Promise.race([once(worker, 'message'), ended(worker)]);
    const next = waiting.shift();
    if (next === undefined) idle.push(worker);
    else next(worker);
    return answer;
  };
  return {
    threads,
    verifyRange: (task) => run<RangeResult>({ kind: 'range', task }),
    hashIndex: (task) => run<string>({ kind: 'hash', task }),
    [Symbol.asyncDispose]: async () => {
      await Promise.all(workers.map((worker) => worker.terminate()));
    },
  };
}

async function ended(worker: Worker): Promise<never> {
  await once(worker, 'exit');
  throw new Error('A thread of the verification ended before its answer.');
}
