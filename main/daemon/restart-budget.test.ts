import { expect, test } from 'vitest';
import { RestartBudget } from './restart-budget.ts';

test('gives three restarts within a minute, each after a longer wait, and no fourth', () => {
  const budget = new RestartBudget(() => 0);
  expect([budget.take(), budget.take(), budget.take(), budget.take()]).toEqual([500, 1_000, 2_000, null]);
});

test('a restart counts for sixty seconds and not one millisecond more', () => {
  let now = 0;
  const budget = new RestartBudget(() => now);
  for (let spent = 0; spent < 3; spent += 1) budget.take();
  now = 59_999;
  expect(budget.take()).toBeNull();
  now = 60_000;
  expect(budget.take()).toBe(500);
});

test('is whole again after a refill', () => {
  const budget = new RestartBudget(() => 0);
  for (let spent = 0; spent < 3; spent += 1) budget.take();
  budget.refill();
  expect(budget.take()).toBe(500);
});
