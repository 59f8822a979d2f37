import { expect, test } from 'vitest';
import { type JobSink, readJobFrame } from './job-frames.ts';

function read(frame: object | string): unknown[] {
  const calls: unknown[] = [];
  const sink: JobSink = {
    plainLine: (stream, bytes, start, end) =>
      calls.push(['plain', stream, new TextDecoder().decode(bytes.subarray(start, end))]),
    textLine: (stream, line, partial) => calls.push(['text', stream, line, partial]),
    gap: (from, to) => calls.push(['gap', from, to]),
    exit: (exit) => calls.push(['exit', exit]),
    error: (error) => calls.push(['error', error]),
  };
  const json = typeof frame === 'string' ? frame : JSON.stringify(frame);
  const bytes = new TextEncoder().encode(`before${json}after`);
  readJobFrame(bytes, 6, bytes.length - 5, sink);
  return calls;
}

test('takes a line without escapes as bytes', () => {
  expect(read({ type: 'stdout', line: 'plain ünïcödé' })).toEqual([['plain', 'stdout', 'plain ünïcödé']]);
  expect(read({ type: 'stderr', line: '' })).toEqual([['plain', 'stderr', '']]);
});

test.each(['say "hi"', 'back\\slash', 'tab\there', '\u001b[31mred', '","partial":true,"x":"'])(
  'takes a line that JSON escapes as text: %j',
  (line) => {
    expect(read({ type: 'stdout', line })).toEqual([['text', 'stdout', line, false]]);
  },
);

test('tells a continued line', () => {
  expect(read({ type: 'stderr', line: 'rest', partial: true })).toEqual([['text', 'stderr', 'rest', true]]);
});

test('reads members in another order and with spaces', () => {
  expect(read('{ "line": "x", "type": "stdout" }')).toEqual([['text', 'stdout', 'x', false]]);
});

test('reads gap, exit and error frames, and passes over kinds it does not know', () => {
  expect(read({ type: 'gap', from: 3, to: 9 })).toEqual([['gap', 3, 9]]);
  expect(read({ type: 'exit', code: 137, signal: 'SIGKILL', reason: 'cancelled' })).toEqual([
    ['exit', { type: 'exit', code: 137, signal: 'SIGKILL', reason: 'cancelled' }],
  ]);
  expect(read({ type: 'error', code: 'x', detail: 'y' })).toEqual([
    ['error', { type: 'error', code: 'x', detail: 'y' }],
  ]);
  expect(read({ type: 'later' })).toEqual([]);
});
