import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ClipboardLease } from './clipboard-lease.ts';

let text = '';
const clipboard = {
  readText: async () => text,
  writeText: async (written: string) => {
    text = written;
  },
};

beforeEach(() => {
  text = '';
  vi.useFakeTimers();
});
afterEach(() => void vi.useRealTimers());

test('clears text at its time and not before', async () => {
  await new ClipboardLease(clipboard).copy('secret', 1_000);
  await vi.advanceTimersByTimeAsync(999);
  expect(text).toBe('secret');
  await vi.advanceTimersByTimeAsync(1);
  expect(text).toBe('');
});

test('leaves what was copied since', async () => {
  await new ClipboardLease(clipboard).copy('secret', 1_000);
  text = 'of the user';
  await vi.advanceTimersByTimeAsync(1_000);
  expect(text).toBe('of the user');
});

test('a later copy ends the lease of the one before, and text without a time stays', async () => {
  const lease = new ClipboardLease(clipboard);
  await lease.copy('secret', 1_000);
  await lease.copy('secret', null);
  await vi.advanceTimersByTimeAsync(10_000);
  await lease.clear();
  expect(text).toBe('secret');
});

test('of two copies at once the later one decides', async () => {
  const lease = new ClipboardLease(clipboard);
  await Promise.all([lease.copy('first', 1_000), lease.copy('second', null)]);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(text).toBe('second');
});
