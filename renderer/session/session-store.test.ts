import { expect, test } from 'vitest';
import { tokenIn } from './session-store.ts';

const token = 'AbC-_0123456789AbC-_0123456789AbC-_01234567';

test.each([
  [`http://127.0.0.1:4774/#token=${token}`],
  [`  http://localhost:4774/#token=${token}\n`],
  [`http://127.0.0.1:4774/#x=1&token=${token}&y=2`],
  [`#token=${token}`],
  [token],
  [` ${token} `],
])('finds the token in %j', (text) => {
  expect(tokenIn(text)).toBe(token);
});

test.each([
  [''],
  ['hello'],
  ['http://127.0.0.1:4774/'],
  ['two words that are long enough'],
  ['a'.repeat(201)],
])('finds none in %j', (text) => {
  expect(tokenIn(text)).toBeUndefined();
});
