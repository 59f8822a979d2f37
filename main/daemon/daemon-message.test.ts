import { expect, test } from 'vitest';
import { isLoopbackUrl, parseDaemonMessage } from './daemon-message.ts';

const listening = {
  event: 'listening',
  url: 'http://127.0.0.1:4774',
  pid: 42,
  data_dir: '/data',
  login_token: 'token',
  version: '1.2.3',
};

test('reads every message of the contract', () => {
  for (const message of [
    { type: 'ready', listening },
    { type: 'login-token', token: 'token' },
    { type: 'jobs', running: 0 },
    { type: 'failed', message: '' },
  ]) {
    expect(parseDaemonMessage(message)).toEqual(message);
  }
});

test.each([
  null,
  'ready',
  [],
  {},
  { type: 'other' },
  { type: 'ready' },
  { type: 'ready', listening: { ...listening, url: 'http://192.0.2.1:4774' } },
  { type: 'ready', listening: { ...listening, pid: -1 } },
  { type: 'ready', listening: { ...listening, login_token: '' } },
  { type: 'login-token', token: 1 },
  { type: 'jobs', running: 1.5 },
  { type: 'jobs', running: '1' },
  { type: 'failed' },
])('takes nothing else for a message: %j', (value) => {
  expect(parseDaemonMessage(value)).toBeNull();
});

test.each([
  ['http://127.0.0.1:4774', true],
  ['http://localhost:1', true],
  ['http://[::1]:4774/', true],
  ['https://127.0.0.1:4774', false],
  ['http://127.0.0.1.example.com', false],
  ['http://someone@127.0.0.1:4774', false],
  ['http://0.0.0.0:4774', false],
  ['file:///etc/passwd', false],
  ['', false],
])('%s is this machine: %s', (url, expected) => {
  expect(isLoopbackUrl(url)).toBe(expected);
});
