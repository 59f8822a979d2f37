import { parentPort, workerData } from 'node:worker_threads';
import { StorageFailedError, StorageFullError } from '../lib/durable-errors.ts';
import type { TreeWorkerData, WorkerFault, WorkerMessage, WorkerRequest } from './tree-calls.ts';
import { TreeSession } from './tree-session.ts';

/** Entry of the worker thread that `TreeThread` starts. */
const port = parentPort;
if (port === null) throw new Error('this is the entry of a worker thread');

const data = workerData as TreeWorkerData;
const send = (message: WorkerMessage) => port.postMessage(message);

const session = new TreeSession({
  data,
  onNotice: (notice) => send({ kind: 'notice', notice }),
  onReady: (watching) => send({ kind: 'ready', watching }),
  onUnwatched: () => send({ kind: 'watching', watching: false }),
});

port.on('message', ({ id, call, args }: WorkerRequest) => {
  void answer(id, () => {
    // The other side is typed by the same list of calls.
    const method = session[call] as (...args: readonly unknown[]) => unknown;
    return method.apply(session, [...args]);
  }).then(() => {
    // Nothing is left to wait for: the thread ends.
    if (call === 'close') port.close();
  });
});

session.load().catch((error: unknown) => {
  // Outside of the promise: it ends the thread, and the other side hears why.
  setImmediate(() => {
    throw error;
  });
});

async function answer(id: number, act: () => unknown): Promise<void> {
  try {
    send({ kind: 'answer', id, value: await act() });
  } catch (error) {
    send({ kind: 'fault', id, fault: faultOf(error) });
  }
}

function faultOf(error: unknown): WorkerFault {
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
  if (error instanceof StorageFullError) return { code: error.code, path: error.path, fatal: false, message };
  const known = error instanceof StorageFailedError ? error : undefined;
  return { code: 'storage_failed', path: known?.path ?? data.folder, fatal: known?.fatal ?? false, message };
}
