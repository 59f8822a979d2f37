import { expect, test } from 'vitest';
import { SseBytes } from './sse-bytes.ts';

type Event = { id: number; data: string };

function readIn(pieces: Uint8Array[]): Event[] {
  const events: Event[] = [];
  const stream = new SseBytes((bytes, start, end, id) =>
    events.push({ id, data: new TextDecoder().decode(bytes.subarray(start, end)) }),
  );
  for (const piece of pieces) stream.feed(piece);
  return events;
}

const stream = new TextEncoder().encode(
  [
    ': ping',
    '',
    'id: 7',
    'data: {"a":"ünï"}',
    '',
    'data:no space',
    'id:12',
    '',
    'event: other',
    'retry: 10',
    '',
    'data: two',
    'data: lines',
    '',
    'id: 99',
    'data: ',
    '',
    '',
  ].join('\n'),
);

const expected: Event[] = [
  { id: 7, data: '{"a":"ünï"}' },
  { id: 12, data: 'no space' },
  { id: 0, data: 'two\nlines' },
  { id: 99, data: '' },
];

test('reads ids and data, and passes over comments and events without data', () => {
  expect(readIn([stream])).toEqual(expected);
});

test('reads the same wherever the stream is cut', () => {
  for (let cut = 0; cut <= stream.length; cut++) {
    expect(readIn([stream.subarray(0, cut), stream.subarray(cut)]), `cut at ${cut}`).toEqual(expected);
  }
});

test('reads the same byte by byte', () => {
  expect(readIn([...stream].map((byte) => new Uint8Array([byte])))).toEqual(expected);
});

test('reads lines that end in CR LF', () => {
  const crlf = new TextEncoder().encode(new TextDecoder().decode(stream).replaceAll('\n', '\r\n'));
  expect(readIn([crlf])).toEqual(expected);
});

test('hands on nothing of an event that has not ended', () => {
  expect(readIn([new TextEncoder().encode('data: begun\n')])).toEqual([]);
});
