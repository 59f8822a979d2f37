import { expect, test } from 'vitest';
import { PathLocks, type Wanted } from './path-locks.ts';

/** Asks for a lock, and notes the name when it is let in. */
function ask(locks: PathLocks, entered: string[], name: string, wanted: Wanted): Promise<() => void> {
  return locks.acquire(wanted).then((unlock) => {
    entered.push(name);
    return unlock;
  });
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('callers of one path go one after the other, in the order they came; others side by side', async () => {
  const locks = new PathLocks();
  const entered: string[] = [];
  const first = await ask(locks, entered, 'first a', ['a']);
  const second = ask(locks, entered, 'second a', ['a']);
  const other = await ask(locks, entered, 'b', ['b']);
  const third = ask(locks, entered, 'a and b', ['b', 'a']);
  await turn();
  expect(entered).toEqual(['first a', 'b']);
  first();
  (await second)();
  await turn();
  expect(entered).toEqual(['first a', 'b', 'second a']);
  other();
  (await third)();
  expect(entered).toEqual(['first a', 'b', 'second a', 'a and b']);
});

test('who wants the whole tree waits for all before, and is overtaken by nobody', async () => {
  const locks = new PathLocks();
  const entered: string[] = [];
  const before = await ask(locks, entered, 'before', ['a']);
  const all = ask(locks, entered, 'all', 'all');
  const after = ask(locks, entered, 'after', ['b']);
  await turn();
  expect(entered).toEqual(['before']);
  before();
  const unlockAll = await all;
  await turn();
  expect(entered).toEqual(['before', 'all']);
  unlockAll();
  (await after)();
  expect(entered).toEqual(['before', 'all', 'after']);
});

test('one that waits is not overtaken by a later one for the same path', async () => {
  const locks = new PathLocks();
  const entered: string[] = [];
  const a = await ask(locks, entered, 'a', ['a']);
  const both = ask(locks, entered, 'a and b', ['a', 'b']);
  const b = ask(locks, entered, 'b', ['b']);
  await turn();
  expect(entered).toEqual(['a']);
  a();
  (await both)();
  (await b)();
  expect(entered).toEqual(['a', 'a and b', 'b']);
});
