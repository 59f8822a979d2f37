import { readdirSync, readFileSync } from 'node:fs';

/** The threads of the daemon that touch the disk. `tree` walks, watches and packs; `pool` is Node's, of one thread. */
export type ThreadRole = 'main' | 'pool' | 'tree';

const roleOfName: Readonly<Record<string, ThreadRole>> = {
  MainThread: 'main',
  'libuv-worker': 'pool',
  WorkerThread: 'tree',
};

/** Thread ids by role; a role that has none, or several, is left out. */
export function threadsOf(pid: number): Map<ThreadRole, number> {
  const threads = new Map<ThreadRole, number>();
  const several = new Set<ThreadRole>();
  for (const tid of readdirSync(`/proc/${pid}/task`).map(Number)) {
    const role = tid === pid ? 'main' : roleOfName[nameOf(pid, tid)];
    if (role === undefined) continue;
    if (threads.has(role)) several.add(role);
    threads.set(role, tid);
  }
  for (const role of several) threads.delete(role);
  return threads;
}

function nameOf(pid: number, tid: number): string {
  try {
    return readFileSync(`/proc/${pid}/task/${tid}/comm`, 'utf8').trim();
  } catch {
    return ''; // it has just ended
  }
}

/** One system call as a log shows it: the `nth` of its kind in its thread. */
export interface ThreadCall {
  readonly role: ThreadRole;
  readonly syscall: string;
  readonly nth: number;
  /** The same among those with this `target`. */
  readonly nthOfTarget: number;
  /** What the descriptor it was given stands for, or the first path it names. */
  readonly target: string;
}

/** The calls of the known threads, in the order in which they were begun. */
export function callsOf(log: string, threads: ReadonlyMap<ThreadRole, number>): ThreadCall[] {
  const roles = new Map([...threads].map(([role, tid]) => [tid, role]));
  const counts = new Map<string, number>();
  const calls: ThreadCall[] = [];
  for (const line of log.split('\n')) {
    const [, tid, syscall, args = ''] = /^(\d+) +([a-z]\w*)\((.*)$/.exec(line) ?? [];
    const role = roles.get(Number(tid));
    if (role === undefined || syscall === undefined) continue;
    const target = targetOf(args);
    const nth = countUp(counts, `${role} ${syscall}`);
    const nthOfTarget = countUp(counts, `${role} ${syscall} ${target}`);
    calls.push({ role, syscall, nth, nthOfTarget, target });
  }
  return calls;
}

function countUp(counts: Map<string, number>, key: string): number {
  const count = (counts.get(key) ?? 0) + 1;
  counts.set(key, count);
  return count;
}

function targetOf(args: string): string {
  return /^\d+<([^>]*)>/.exec(args)?.[1] ?? /"([^"]*)"/.exec(args)?.[1] ?? '';
}

/** As many of the list as wanted, evenly over it. */
export function spread<T>(all: readonly T[], wanted: number): T[] {
  if (all.length <= wanted) return [...all];
  const step = all.length / wanted;
  return Array.from({ length: wanted }, (_, at) => all[Math.floor((at + 0.5) * step)]).filter(
    (item): item is T => item !== undefined,
  );
}

/** `main fsync 3, pool openat 12 …` */
export function countBy<T>(items: readonly T[], nameOf: (item: T) => string): string {
  return [...Map.groupBy(items, nameOf)].map(([name, group]) => `${name} ${group.length}`).join(', ');
}
