import { expect, test } from 'vitest';
import { LogDesk } from './log-desk.ts';
import type { FromLogWorker } from './log-protocol.ts';
import type { JobStreamOptions } from './read-job-stream.ts';

const source = { jobId: 'j_0', workspaceId: 'ws_0', token: 't', baseUrl: '' };

/** A desk whose stream the test drives by hand. */
function openDesk() {
  const sent: FromLogWorker[] = [];
  const waiting: { has: (message: FromLogWorker) => boolean; done: () => void }[] = [];
  const stream = Promise.withResolvers<JobStreamOptions>();
  const desk = new LogDesk({
    send: (message) => {
      sent.push(message);
      for (const { has, done } of waiting) if (has(message)) done();
    },
    breathe: () => Promise.resolve(),
    read: (options) => {
      stream.resolve(options);
      return Promise.resolve();
    },
  });
  desk.handle({ type: 'open', source });
  const until = (has: (message: FromLogWorker) => boolean) =>
    new Promise<void>((done) => (sent.some(has) ? done() : waiting.push({ has, done })));
  return { desk, sent, until, stream: stream.promise };
}

function print(options: JobStreamOptions, ...lines: string[]): void {
  for (const line of lines) options.sink.textLine('stdout', line, false);
  options.onBytes();
}

const endsAt = (end: number) => (message: FromLogWorker) =>
  message.type === 'progress' && message.progress.end === end;
const rowsSent = (sent: FromLogWorker[]) =>
  sent.flatMap((message) => (message.type === 'progress' ? message.rows.map((row) => row.row) : []));

test('sends the newest rows along while it is followed, each of them once', async () => {
  const { desk, sent, until, stream } = openDesk();
  desk.handle({ type: 'view', from: 0, count: 3, follow: true });
  const options = await stream;
  print(options, 'a', 'b');
  await until(endsAt(2));
  print(options, 'c', 'd', 'e', 'f');
  await until(endsAt(6));
  expect(rowsSent(sent)).toEqual([0, 1, 3, 4, 5]);
});

test('sends a row again once it has grown', async () => {
  const { desk, sent, until, stream } = openDesk();
  desk.handle({ type: 'view', from: 0, count: 5, follow: false });
  const options = await stream;
  print(options, 'a', 'b');
  await until(endsAt(2));
  options.sink.textLine('stdout', 'more', true);
  print(options, 'c');
  await until(endsAt(3));
  expect(rowsSent(sent)).toEqual([0, 1, 1, 2]);
});

test('many lines make few messages', async () => {
  const { sent, until, stream } = openDesk();
  const options = await stream;
  for (let line = 0; line < 5000; line++) print(options, `line ${line}`);
  await until(endsAt(5000));
  expect(sent.length).toBeLessThan(3);
});

test('answers text, files and matches over all lines', async () => {
  const { desk, sent, until, stream } = openDesk();
  const options = await stream;
  print(options, ...Array.from({ length: 10_000 }, (_, index) => `line ${index + 1}`));
  desk.handle({ type: 'text', request: 1, from: 4094, to: 4098 });
  desk.handle({ type: 'search', term: { query: 'line 9999', matchCase: false } });
  desk.handle({ type: 'find', request: 2, from: 0, backwards: false });
  desk.handle({ type: 'file', request: 3 });
  for (const type of ['text', 'found', 'file']) await until((message) => message.type === type);
  const file = sent.find((message) => message.type === 'file');
  expect(sent).toContainEqual({
    type: 'text',
    request: 1,
    text: 'line 4095\nline 4096\nline 4097\nline 4098\n',
  });
  expect(sent).toContainEqual({ type: 'found', request: 2, match: { row: 9998, ordinal: 1 } });
  expect((await file?.file.text())?.split('\n').length).toBe(10_001);
});
