/** "just now", "5 min ago", "3 h ago", "yesterday", else the date. */
export function agoWords(from: string, now: number): string {
  const seconds = Math.max(0, (now - Date.parse(from)) / 1000);
  if (seconds < 45) return 'just now';
  if (seconds < 90 * 60) return `${Math.max(1, Math.round(seconds / 60))} min ago`;
  if (seconds < 22 * 3600) return `${Math.round(seconds / 3600)} h ago`;
  if (seconds < 44 * 3600) return 'yesterday';
  if (seconds < 14 * 86_400) return `${Math.round(seconds / 86_400)} days ago`;
  return dateWords(from);
}

/** "in 5 min", "in 3 h", "in 12 days", else the date. */
export function untilWords(to: string, now: number): string {
  const seconds = (Date.parse(to) - now) / 1000;
  if (seconds < 60) return 'in a minute';
  if (seconds < 90 * 60) return `in ${Math.round(seconds / 60)} min`;
  if (seconds < 44 * 3600) return `in ${Math.round(seconds / 3600)} h`;
  if (seconds < 60 * 86_400) return `in ${Math.round(seconds / 86_400)} days`;
  return dateWords(to);
}

function dateWords(time: string): string {
  return new Date(time).toLocaleDateString(undefined, { day: 'numeric', month: 'short', year: 'numeric' });
}

export function exactTime(time: string): string {
  return new Date(time).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
}

/** "0.8 s", "12 s", "3 min 05 s", "2 h 14 min". */
export function durationWords(ms: number): string {
  const seconds = Math.max(0, ms) / 1000;
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 60) return `${Math.round(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${String(Math.floor(seconds % 60)).padStart(2, '0')} s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours} h ${String(minutes % 60).padStart(2, '0')} min`;
  return `${Math.floor(hours / 24)} days ${hours % 24} h`;
}

export function bytesWords(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  if (bytes < 1024 ** 2) return `${(bytes / 1024).toFixed(1)} KiB`;
  if (bytes < 1024 ** 3) return `${(bytes / 1024 ** 2).toFixed(1)} MiB`;
  return `${(bytes / 1024 ** 3).toFixed(1)} GiB`;
}

export function countWords(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
}
