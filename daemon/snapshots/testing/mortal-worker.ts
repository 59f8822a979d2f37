import { parentPort } from 'node:worker_threads';

/** The tree worker, but told to die it does, between two things. To terminate a thread at work can abort the process. */
parentPort?.on('message', (message: unknown) => {
  if (message === 'die') process.exit(1);
});
await import('../tree-worker.ts');
