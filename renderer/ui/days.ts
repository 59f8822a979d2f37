/** What happened on one day in the reader's time zone. */
export type Day<Item> = { day: string; items: Item[] };

/** Cuts a list that is in the order of time, newest first, into its days. */
export function byDay<Item extends { timestamp: string }>(items: readonly Item[]): Day<Item>[] {
  const days: Day<Item>[] = [];
  for (const item of items) {
    const day = dayOf(new Date(item.timestamp));
    const last = days.at(-1);
    if (last?.day === day) last.items.push(item);
    else days.push({ day, items: [item] });
  }
  return days;
}

/** "Today", "Yesterday", else the weekday and the date. */
export function dayWords(day: string, now: number): string {
  if (day === dayOf(new Date(now))) return 'Today';
  const yesterday = new Date(now);
  yesterday.setDate(yesterday.getDate() - 1);
  if (day === dayOf(yesterday)) return 'Yesterday';
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number);
  const thisYear = year === new Date(now).getFullYear();
  return new Date(year, month - 1, date).toLocaleDateString(undefined, {
    weekday: 'long',
    day: 'numeric',
    month: 'long',
    ...(thisYear ? {} : { year: 'numeric' }),
  });
}

/** The hour and minute, where the day stands above. */
export function timeOfDay(time: string): string {
  return new Date(time).toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit' });
}

function dayOf(time: Date): string {
  return `${time.getFullYear()}-${String(time.getMonth() + 1).padStart(2, '0')}-${String(time.getDate()).padStart(2, '0')}`;
}
