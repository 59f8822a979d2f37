import { expect, test } from 'vitest';
import { byDay, dayWords } from './days.ts';

test('what happened is grouped by the days of the reader', () => {
  const at = (day: number, hour: number) => ({ timestamp: new Date(2026, 2, day, hour).toISOString() });
  const items = [at(3, 9), at(3, 0), at(2, 23), at(1, 1)];
  const days = byDay(items);
  expect(days.map((day) => day.items)).toEqual([[items[0], items[1]], [items[2]], [items[3]]]);
  const now = new Date(2026, 2, 3, 12).getTime();
  expect(days.map(({ day }) => dayWords(day, now))).toEqual([
    'Today',
    'Yesterday',
    expect.stringMatching(/1/),
  ]);
  expect(dayWords('2025-12-31', now)).toContain('2025');
});
