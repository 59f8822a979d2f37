import { expect, test } from 'vitest';
import { mayNavigate, mayOpenOutside, mayRequest } from './allowed-url.ts';

const policy = { panelOrigin: () => 'http://127.0.0.1:4774', devTools: false };
const none = { panelOrigin: () => null, devTools: false };

test.each([
  ['http://127.0.0.1:4774/', true],
  ['http://127.0.0.1:4774/docs#x', true],
  ['http://127.0.0.1:4775/', false],
  ['http://localhost:4774/', false],
  ['https://127.0.0.1:4774/', false],
  ['http://127.0.0.1:4774@example.com/', false],
  ['blob:http://127.0.0.1:4774/1', false],
  ['data:text/html,x', false],
  ['javascript:alert(1)', false],
  ['file:///etc/passwd', false],
  ['nonsense', false],
])('a window may navigate to %s: %s', (url, expected) => {
  expect(mayNavigate(url, policy)).toBe(expected);
  expect(mayNavigate(url, none)).toBe(false);
});

test.each([
  ['http://127.0.0.1:4774/api', 'xhr', true],
  ['ws://127.0.0.1:4774/terminal', 'webSocket', true],
  ['wss://127.0.0.1:4774/terminal', 'webSocket', false],
  ['ws://127.0.0.1:1/terminal', 'webSocket', false],
  ['blob:http://127.0.0.1:4774/1', 'script', true],
  ['blob:http://127.0.0.1:1/1', 'script', false],
  ['data:image/png;base64,', 'image', true],
  ['data:font/woff2;base64,', 'font', true],
  ['data:text/javascript,x', 'script', false],
  ['data:text/html,x', 'subFrame', false],
  ['https://example.com/', 'xhr', false],
  ['devtools://devtools/x.js', 'script', false],
  ['file:///etc/passwd', 'xhr', false],
])('%s as %s may be requested: %s', (url, type, expected) => {
  expect(mayRequest(url, type, policy)).toBe(expected);
});

test("the developer tools' own files load in development only", () => {
  expect(mayRequest('devtools://devtools/x.js', 'script', { ...policy, devTools: true })).toBe(true);
});

test('without a panel nothing of http may be requested', () => {
  expect(mayRequest('http://127.0.0.1:4774/', 'mainFrame', none)).toBe(false);
  expect(mayRequest('blob:null/1', 'script', none)).toBe(false);
});

test.each([
  ['https://example.com/docs', true],
  ['http://example.com/', false],
  ['https://user@example.com/', false],
  ['vscode://file/x', false],
  ['file:///bin/sh', false],
  ['', false],
])('%s may be handed to the system browser: %s', (url, expected) => {
  expect(mayOpenOutside(url)).toBe(expected);
});
