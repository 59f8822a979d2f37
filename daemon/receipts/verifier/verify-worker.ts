import { parentPort } from 'node:worker_threads';
import { hashIndex } from './index-hash.ts';
import type { WorkerMessage } from './run-tasks.ts';
import { RangeVerifier } from './verify-range.ts';

/** Entry of a verification's threads: one task after the other, an answer to each. */
const verifier = new RangeVerifier();

parentPort?.on('message', (message: WorkerMessage) => {
  if (message === 'end') parentPort?.close();
  else
    parentPort?.postMessage(
      message.kind === 'range' ? verifier.verify(message.task) : hashIndex(message.task),
    );
});
