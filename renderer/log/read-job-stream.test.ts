import { expect, test } from 'vitest';
import type { LogState } from './log-protocol.ts';
import { readJobStream } from './read-job-stream.ts';

type Answer = { status?: number; body: string; breaks?: boolean };

/** Reads a stream that gives the answers one after the other; tells what was asked and what came out. */
async function readWith(answers: Answer[]) {
  const lines: string[] = [];
  const states: LogState[] = [];
  const asked: (string | null)[] = [];
  const left = [...answers];
  await readJobStream({
    source: { jobId: 'j_0', workspaceId: 'ws_0', token: 't', baseUrl: 'http://127.0.0.1:1' },
    sink: {
      plainLine: (_stream, bytes, start, end) =>
        lines.push(new TextDecoder().decode(bytes.subarray(start, end))),
      textLine: (_stream, line) => lines.push(line),
      gap: (from, to) => lines.push(`gap ${from}-${to}`),
      exit: () => lines.push('exit'),
      error: (frame) => lines.push(frame.code),
    },
    onState: (state) => states.push(state),
    onBytes: () => {},
    breathe: () => Promise.resolve(),
    delay: () => Promise.resolve(),
    fetch: (_url, options) => {
      asked.push(new Headers(options?.headers).get('Last-Event-ID'));
      const answer = left.shift();
      if (answer === undefined) throw new Error('asked more often than there are answers');
      return Promise.resolve(responseOf(answer));
    },
  });
  return { lines, states: states.map((state) => state.phase), asked, left };
}

function responseOf({ status = 200, body, breaks = false }: Answer): Response {
  let sent = false;
  const stream = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (!sent) controller.enqueue(new TextEncoder().encode(body));
      else if (breaks) controller.error(new Error('connection lost'));
      else controller.close();
      sent = true;
    },
  });
  return new Response(stream, { status });
}

const line = (id: number, text: string) => `id: ${id}\ndata: {"type":"stdout","line":"${text}"}\n\n`;
const exit = (id: number) => `id: ${id}\ndata: {"type":"exit","code":0}\n\n`;

test('reads from the beginning to the exit frame', async () => {
  const { lines, states, asked } = await readWith([{ body: line(1, 'a') + line(2, 'b') + exit(3) }]);
  expect(lines).toEqual(['a', 'b', 'exit']);
  expect(states).toEqual(['streaming', 'ended']);
  expect(asked).toEqual([null]);
});

test('takes a broken connection up again after the last frame that arrived', async () => {
  const { lines, states, asked } = await readWith([
    { body: `${line(1, 'a')}id: 2\ndata: {"type":"std`, breaks: true },
    { body: line(2, 'b') },
    { body: line(3, 'c') + exit(4) },
  ]);
  expect(lines).toEqual(['a', 'b', 'c', 'exit']);
  expect(asked).toEqual([null, '1', '2']);
  expect(states).toEqual(['streaming', 'retrying', 'streaming', 'retrying', 'streaming', 'ended']);
});

test('waits out a daemon that is starting, and gives up where the job is no longer known', async () => {
  const { states } = await readWith([
    { status: 503, body: '{"detail":"shutting down"}' },
    { status: 404, body: '{"code":"unknown_job"}' },
  ]);
  expect(states).toEqual(['retrying', 'gone']);
});

test.each([
  [401, 'signed-out'],
  [403, 'failed'],
])('does not ask again after %i', async (status, phase) => {
  const { states, left } = await readWith([{ status, body: '{}' }]);
  expect(states).toEqual([phase]);
  expect(left).toEqual([]);
});
