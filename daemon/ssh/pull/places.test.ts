import { expect, test } from 'vitest';
import { Places } from './places.ts';

test('lets so many in, and the others in their order, each as one leaves', async () => {
  const places = new Places(2);
  const [first, second] = [await places.take(), await places.take()];
  const entered: string[] = [];
  const enter = (name: string) => places.take().then((place) => [entered.push(name), place] as const);
  const [third, fourth] = [enter('third'), enter('fourth')];
  await Promise.resolve();
  expect(entered).toEqual([]);
  second[Symbol.dispose]();
  const [, place] = await third;
  expect(entered).toEqual(['third']);
  // To give it back twice frees one place.
  second[Symbol.dispose]();
  await Promise.resolve();
  expect(entered).toEqual(['third']);
  place[Symbol.dispose]();
  await fourth;
  first[Symbol.dispose]();
  await places.take();
});

test('lets who is called off leave the queue, and keeps no place for them', async () => {
  const places = new Places(1);
  const first = await places.take();
  const caller = new AbortController();
  const gone = places.take(caller.signal);
  const next = places.take(new AbortController().signal);
  caller.abort();
  await expect(gone).rejects.toMatchObject({ code: 'ssh_failed' });
  first[Symbol.dispose]();
  using _ = await next;
  await expect(places.take(AbortSignal.abort())).rejects.toMatchObject({ code: 'ssh_failed' });
});
