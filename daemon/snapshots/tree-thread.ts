import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { StorageFailedError, StorageFullError } from '../lib/durable-errors.ts';
import type { Logger } from '../lib/logger.ts';
import { workerFile } from '../lib/worker-file.ts';
import type {
  KeeperNotice,
  TreeCalls,
  TreeWorkerData,
  WorkerFault,
  WorkerMessage,
  WorkerRequest,
} from './tree-calls.ts';

interface TreeThreadOptions {
  readonly data: TreeWorkerData;
  readonly logger: Logger;
  readonly onNotice: (notice: KeeperNotice) => void;
  readonly startWorker: StartWorker;
}

export type StartWorker = (data: TreeWorkerData) => Worker;

export const startTreeWorker: StartWorker = (workerData) =>
  new Worker(workerFile('snapshots/tree-worker'), {
    workerData,
    execArgv: [],
  });

interface Pending {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

/** A worker that died more often than this within a minute is not started again. */
const maxRestarts = 3;
const restartWindowMs = 60_000;
const endWithinMs = 1000;

/** The worker thread of one tree: calls to it, and a new one where it dies. */
export class TreeThread {
  /** Runs under way: a new worker gives them what differs from the baseline that the old one left. */
  readonly running = new Set<string>();
  readonly #options: TreeThreadOptions;
  readonly #pending = new Map<number, Pending>();
  #worker: Worker;
  #ready = Promise.withResolvers<void>();
  #lastId = 0;
  #restarts: number[] = [];
  #closing: Promise<void> | undefined;
  #isLost = false;
  isReady = false;
  watching = false;

  constructor(options: TreeThreadOptions) {
    this.#options = options;
    for (const runId of options.data.interrupted) this.running.add(runId);
    this.#worker = this.#start();
  }

  get ready(): Promise<void> {
    return this.#ready.promise;
  }

  call<Name extends keyof TreeCalls>(
    name: Name,
    ...args: Parameters<TreeCalls[Name]>
  ): Promise<Awaited<ReturnType<TreeCalls[Name]>>> {
    if (this.#isLost || (this.#closing && name !== 'close')) return Promise.reject(this.#lostError());
    const id = ++this.#lastId;
    const { promise, resolve, reject } = Promise.withResolvers<Awaited<ReturnType<TreeCalls[Name]>>>();
    // The worker answers a call with what the call is declared to answer.
    this.#pending.set(id, { resolve: resolve as (value: unknown) => void, reject });
    this.#worker.postMessage({ id, call: name, args } satisfies WorkerRequest);
    return promise;
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    if (this.#isLost) return;
    try {
      await this.call('close');
    } finally {
      await ended(this.#worker);
      this.#ready.promise.catch(() => undefined);
      this.#ready.reject(this.#lostError());
    }
  }

  #start(): Worker {
    const worker = this.#options.startWorker({ ...this.#options.data, interrupted: [...this.running] });
    worker.on('message', (message: WorkerMessage) => this.#receive(message));
    let cause: unknown;
    worker.on('error', (error) => {
      cause = error;
    });
    worker.on('exit', () => this.#onExit(worker, cause));
    // Who waits for it hears of a failure; nobody has to.
    this.#ready.promise.catch(() => undefined);
    return worker;
  }

  #receive(message: WorkerMessage): void {
    switch (message.kind) {
      case 'ready':
        this.isReady = true;
        this.watching = message.watching;
        this.#ready.resolve();
        return;
      case 'watching':
        this.watching = message.watching;
        return;
      case 'notice':
        this.#options.onNotice(message.notice);
        return;
      case 'answer':
        this.#take(message.id)?.resolve(message.value);
        return;
      case 'fault':
        this.#take(message.id)?.reject(asError(message.fault));
        return;
      default:
        message satisfies never;
    }
  }

  #take(id: number): Pending | undefined {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    return pending;
  }

  #onExit(worker: Worker, cause: unknown): void {
    if (worker !== this.#worker) return;
    this.isReady = false;
    this.watching = false;
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    if (!this.#closing) this.#replace(cause);
    for (const { reject } of pending) reject(this.#lostError(cause));
  }

  #replace(cause: unknown): void {
    const { logger, onNotice } = this.#options;
    logger.error({ err: cause }, 'the snapshot worker died');
    const now = Date.now();
    this.#restarts = [...this.#restarts.filter((at) => now - at < restartWindowMs), now];
    const wasReady = this.#ready;
    if (this.#restarts.length > maxRestarts) {
      this.#isLost = true;
      wasReady.reject(this.#lostError(cause));
      this.#ready = Promise.withResolvers();
      this.#ready.promise.catch(() => undefined);
      this.#ready.reject(this.#lostError(cause));
      onNotice({
        code: 'worker_lost',
        detail: 'Changes of this workspace can not be tracked: the tracker failed again and again.',
      });
      return;
    }
    this.#ready = Promise.withResolvers();
    // Who waited for the first worker waits for the second.
    this.#ready.promise.then(wasReady.resolve, wasReady.reject);
    this.#worker = this.#start();
    onNotice({
      code: 'worker_restarted',
      detail: 'The tracker of changes failed and was started again; the whole workspace is scanned.',
    });
  }

  #lostError(cause?: unknown): StorageFailedError {
    return new StorageFailedError(this.#options.data.folder, false, { cause });
  }
}

/**
 * A worker ends by itself once it is closed; one that takes longer is not waited for. It is never terminated: in a thread
 * that is at work, V8 may abort, and take the whole process along.
 */
async function ended(worker: Worker): Promise<void> {
  if (worker.threadId === -1) return;
  await Promise.race([once(worker, 'exit'), delay(endWithinMs, undefined, { ref: false })]);
  worker.unref();
}

function asError({ code, path, fatal, message }: WorkerFault): Error {
  const cause = new Error(message);
  return code === 'storage_full'
    ? new StorageFullError(path, { cause })
    : new StorageFailedError(path, fatal, { cause });
}
