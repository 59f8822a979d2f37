import { expect, test } from 'vitest';
import { QuitSequence } from './quit-sequence.ts';

function sequence(jobs: number, confirm: () => Promise<boolean>) {
  const done: string[] = [];
  const step = (name: string) => async () => void done.push(name);
  const quit = new QuitSequence({
    runningJobs: () => jobs,
    confirm: () => {
      done.push('asked');
      return confirm();
    },
    stopDaemon: step('stopped'),
    cleanUp: step('cleaned up'),
    exit: () => done.push('exited'),
  });
  return { quit, done };
}

test('asks, ends the daemon, cleans up and exits, in that order', async () => {
  const { quit, done } = sequence(2, async () => true);
  await quit.begin({ ask: true });
  expect(done).toEqual(['asked', 'stopped', 'cleaned up', 'exited']);
});

test('does not ask when nothing runs, and does nothing when the user cancels', async () => {
  const idle = sequence(0, async () => true);
  await idle.quit.begin({ ask: true });
  expect(idle.done).toEqual(['stopped', 'cleaned up', 'exited']);

  const cancelled = sequence(1, async () => false);
  await cancelled.quit.begin({ ask: true });
  await cancelled.quit.begin({ ask: true });
  expect(cancelled.done).toEqual(['asked', 'asked']);
});

test('asked for twice it asks once; a signal goes past the open question, whose answer then is moot', async () => {
  const answer = Promise.withResolvers<boolean>();
  const { quit, done } = sequence(1, () => answer.promise);
  const first = quit.begin({ ask: true });
  await quit.begin({ ask: true });
  await quit.begin({ ask: false });
  answer.resolve(true);
  await first;
  expect(done).toEqual(['asked', 'stopped', 'cleaned up', 'exited']);
});

test('exits also when the daemon can not be ended in order', async () => {
  const done: string[] = [];
  const quit = new QuitSequence({
    runningJobs: () => 0,
    confirm: async () => true,
    stopDaemon: async () => Promise.reject(new Error('no')),
    cleanUp: async () => undefined,
    exit: () => done.push('exited'),
  });
  await expect(quit.begin({ ask: false })).rejects.toThrow('no');
  expect(done).toEqual(['exited']);
});
