import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { type ChainVerdict, VerifyFrame } from '../contract/receipts.ts';
import { VerificationStream } from './stream-verification.ts';

const verdict: ChainVerdict = {
  valid: true,
  fault: null,
  checked: 3,
  count: 3,
  head: null,
  signature: 'verified',
  repairs: [],
};

const framesOf = (body: string) =>
  body
    .split('\n\n')
    .slice(0, -1)
    .map((frame) => VerifyFrame.parse(JSON.parse(frame.replace('data: ', ''))));

test('progress comes first, however often it is told, and the verdict last', async () => {
  const sink = new PassThrough();
  const body = text(sink);
  await new VerificationStream(sink).run(async ({ onProgress }) => {
    for (let checked = 0; checked < 10_000; checked += 1) onProgress(checked, 10_000);
    return verdict;
  });
  const frames = framesOf(await body);
  expect(frames[0]).toEqual({ type: 'progress', checked: 0, total: 10_000 });
  expect(frames.at(-1)).toEqual({ type: 'verdict', ...verdict });
  expect(frames.length).toBeLessThan(100);
});

test('a verification whose client leaves is given up, quietly', async () => {
  const sink = new PassThrough();
  const stream = new VerificationStream(sink);
  await stream.run(async ({ onProgress, signal }) => {
    const given = new Promise<never>((_, reject) =>
      signal.addEventListener('abort', () => reject(signal.reason)),
    );
    sink.destroy();
    return given.finally(() => onProgress(1, 2));
  });
  expect([stream.closed, sink.readableLength]).toEqual([true, 0]);
});

test('a stream that is cut ends with that frame alone', async () => {
  const sink = new PassThrough();
  const body = text(sink);
  const stream = new VerificationStream(sink);
  await stream.run(async () => {
    stream.cut({ type: 'error', code: 'revoked_key' });
    return verdict;
  });
  expect(await body).toBe('data: {"type":"error","code":"revoked_key"}\n\n');
});

test('what keeps a verification from a verdict is handed on', async () => {
  const stream = new VerificationStream(new PassThrough());
  await expect(stream.run(() => Promise.reject(new Error('the disk is gone')))).rejects.toThrow(
    'the disk is gone',
  );
});
