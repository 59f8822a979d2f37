import { countCalls } from './strace.ts';

/** Every system call that changes a disk, or leads to one that does, or tells a client of it. */
export const DISK_CALLS = [
  'openat',
  'write',
  'writev',
  'pwrite64',
  'fchmod',
  'fsync',
  'fdatasync',
  'rename',
  'renameat',
  'renameat2',
  'link',
  'linkat',
  'unlink',
  'unlinkat',
  'close',
] as const;

/** One place to strike at: the n-th call of a kind in one thread. */
export interface CrashPoint {
  syscall: string;
  nth: number;
}

/** Whether every point is tried (`npm run test:deep`) or a sample. */
export const deep = process.env.TALLYSTICK_DEEP === '1';

/**
 * The points of what a log shows. The event loop's threads wake each other with `write`, so there is one after
 * every file call; of those a sample takes every third where they are many.
 */
export function crashPoints(log: string): CrashPoint[] {
  return [...countCalls(log)].flatMap(([syscall, count]) => {
    const step = deep || syscall !== 'write' || count <= 6 ? 1 : 3;
    const all = Array.from({ length: count }, (_, index) => ({ syscall, nth: index + 1 }));
    return all.filter(({ nth }) => (nth - 1) % step === 0);
  });
}

/** `openat 2 of 2, write 5 of 7 …`: how many of the points tried were really struck. */
export function summary(tried: readonly { point: CrashPoint; struck: boolean }[]): string {
  const kinds = [...new Set(tried.map(({ point }) => point.syscall))];
  return kinds
    .map((syscall) => {
      const ofKind = tried.filter(({ point }) => point.syscall === syscall);
      return `${syscall} ${ofKind.filter(({ struck }) => struck).length} of ${ofKind.length}`;
    })
    .join(', ');
}
