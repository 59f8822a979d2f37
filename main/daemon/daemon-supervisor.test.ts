import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { MessageFromDaemon, MessageToDaemon } from '../../daemon/contract/daemon.ts';
import type { DaemonState, RunningDaemon } from './daemon-state.ts';
import { DaemonSupervisor } from './daemon-supervisor.ts';

const listening = {
  event: 'listening',
  url: 'http://127.0.0.1:4774',
  pid: 42,
  data_dir: '/data',
  login_token: 'first',
  version: '1.0.0',
} as const;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Each launch is one of these: what was posted to it, and its end in the test's hands. */
type Launched = {
  posted: MessageToDaemon[];
  killed: boolean;
  say: (message: MessageFromDaemon) => void;
  end: (code: number) => Promise<void>;
};

function supervise(findRunning: () => Promise<RunningDaemon | string | null> = async () => null) {
  const launches: Launched[] = [];
  const states: DaemonState['kind'][] = [];
  const supervisor = new DaemonSupervisor({
    launch: (say) => {
      const exited = Promise.withResolvers<number>();
      const launched: Launched = {
        posted: [],
        killed: false,
        say,
        end: async (code) => {
          exited.resolve(code);
          await vi.advanceTimersByTimeAsync(0);
        },
      };
      launches.push(launched);
      return {
        post: (message) => launched.posted.push(message),
        kill: () => {
          launched.killed = true;
          exited.resolve(1);
        },
        exited: exited.promise,
      };
    },
    findRunning,
    isRunning: async () => true,
    onChange: ({ kind }) => states.push(kind),
  });
  return {
    supervisor,
    launches,
    states,
    last: () => launches.at(-1) ?? expect.unreachable('nothing was launched'),
  };
}

test('a daemon that does not report ready within 15 s is killed, and after three more the reason is shown', async () => {
  const { supervisor, launches, states } = supervise();
  supervisor.start();
  await vi.advanceTimersByTimeAsync(14_999);
  expect(launches.map(({ killed }) => killed)).toEqual([false]);
  await vi.advanceTimersByTimeAsync(4 * 15_000 + 3_500);
  expect(launches.map(({ killed }) => killed)).toEqual([true, true, true, true]);
  expect(states.at(-1)).toBe('failed');
  expect(supervisor.state).toMatchObject({ reason: expect.stringContaining('within 15 seconds') });
});

test('waits 0.5, 1 and 2 seconds before the restarts', async () => {
  const { supervisor, launches, last } = supervise();
  supervisor.start();
  for (const [index, delayMs] of [500, 1_000, 2_000].entries()) {
    await last().end(1);
    await vi.advanceTimersByTimeAsync(delayMs - 1);
    expect(launches).toHaveLength(index + 1);
    await vi.advanceTimersByTimeAsync(1);
    expect(launches).toHaveLength(index + 2);
  }
});

test('what the daemon said of its failure is the reason, and starting again has the whole budget', async () => {
  const { supervisor, launches, last } = supervise();
  supervisor.start();
  for (let start = 0; start < 4; start += 1) {
    last().say({ type: 'failed', message: 'the port is taken' });
    await last().end(1);
    await vi.advanceTimersByTimeAsync(2_000);
  }
  expect(supervisor.state).toEqual({ kind: 'failed', reason: 'the port is taken' });
  supervisor.start();
  expect(launches).toHaveLength(5);
  await last().end(1);
  await vi.advanceTimersByTimeAsync(500);
  expect(launches).toHaveLength(6);
});

test('looks for a daemon of somebody else only when its own never became ready', async () => {
  const daemon = { url: 'http://127.0.0.1:4774', version: '1.0.0', pid: 7 };
  const findRunning = vi.fn(async () => daemon);
  const { supervisor, last } = supervise(findRunning);
  supervisor.start();
  last().say({ type: 'ready', listening });
  await last().end(1);
  expect(findRunning).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(500);
  await last().end(1);
  expect(supervisor.state).toEqual({ kind: 'attached', daemon });
  expect(await supervisor.mintLoginToken()).toBeNull();
});

test('login tokens are answered in order; one that gets no answer in 5 s, or loses its daemon, is null', async () => {
  const { supervisor, last } = supervise();
  supervisor.start();
  last().say({ type: 'ready', listening });
  const [first, second] = [supervisor.mintLoginToken(), supervisor.mintLoginToken()];
  last().say({ type: 'login-token', token: 'a' });
  last().say({ type: 'login-token', token: 'b' });
  expect([await first, await second]).toEqual(['a', 'b']);

  const late = supervisor.mintLoginToken();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(await late).toBeNull();

  const lost = supervisor.mintLoginToken();
  await last().end(1);
  expect(await lost).toBeNull();
});

test('an answer that comes after its time is not taken for the next one', async () => {
  const { supervisor, last } = supervise();
  supervisor.start();
  last().say({ type: 'ready', listening });
  const late = supervisor.mintLoginToken();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(await late).toBeNull();
  const next = supervisor.mintLoginToken();
  last().say({ type: 'login-token', token: 'of the late one' });
  last().say({ type: 'login-token', token: 'of the next one' });
  expect(await next).toBe('of the next one');
});

test('stopping asks, waits its time, then kills, and nothing starts again', async () => {
  const { supervisor, launches, last, states } = supervise();
  supervisor.start();
  last().say({ type: 'ready', listening });
  const stopped = supervisor.stop(6_000);
  expect(last().posted).toEqual([{ type: 'shutdown' }]);
  await vi.advanceTimersByTimeAsync(5_999);
  expect(last().killed).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  await stopped;
  expect(last().killed).toBe(true);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(launches).toHaveLength(1);
  expect(states.at(-1)).toBe('stopped');
});
