import { execFile } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import {
  listProcesses,
  type ProcessEntry,
  processStartTime,
  readEnvironmentVariable,
  readProcess,
} from '../lib/process-table.ts';
import { jobCookieName } from './child-environment.ts';

/** How the processes of a job are told from all others. */
export interface ProcessTree {
  readonly jobId: string;
  /** Leader of its own group and session, dead or alive; undefined where only the cookie is known. */
  readonly main: MainProcess | undefined;
}

export type MainProcess = Pick<ProcessEntry, 'pid' | 'startTime' | 'startOrder'>;

export interface TerminateOptions {
  /** Milliseconds between SIGTERM and SIGKILL. */
  readonly graceMs: number;
  /** Brings SIGKILL forward, for a daemon that must end now. */
  readonly hurry?: AbortSignal;
  /** Pid that all of the tree but the main process come after, where that was a few seconds ago at most. */
  readonly newerThan?: number | undefined;
}

const pollMs = [5, 20, 40, 80, 150] as const;

/**
 * Ends every process of a tree: SIGTERM, after the grace period SIGKILL, until two looks in a row find none. Processes
 * that left the group (`setsid`) or lost their parent (double fork) are found by the job's cookie in their environment.
 */
export async function terminateTree(
  tree: ProcessTree,
  { graceMs, hurry, newerThan }: TerminateOptions,
): Promise<void> {
  if (process.platform === 'win32') return taskkill(tree);
  const deadline = performance.now() + graceMs;
  const asked = new Map<number, string>();
  signalGroup(tree, 'SIGTERM');
  for (let round = 0, empty = 0; empty < 2; round += 1) {
    const members = await look(tree, asked, newerThan);
    empty = members?.length === 0 ? empty + 1 : 0;
    const over = performance.now() >= deadline || hurry?.aborted === true;
    for (const member of members ?? []) {
      if (over) signal(member, 'SIGKILL');
      else if (asked.get(member.pid) !== member.startTime) signal(member, 'SIGTERM');
      asked.set(member.pid, member.startTime);
    }
    if (empty < 2) await delay(pollMs[Math.min(round, pollMs.length - 1)]);
  }
}

/** Undefined where the process table can't be read now (no descriptor left, for one): then it is looked at again. */
async function look(...args: Parameters<typeof findMembers>): Promise<ProcessEntry[] | undefined> {
  try {
    return await findMembers(...args);
  } catch {
    // Giving up here would leave processes behind.
    return undefined;
  }
}

/** Asks the job's own group at once, before the slower look for those that left it. */
function signalGroup({ main }: ProcessTree, name: NodeJS.Signals): void {
  if (main === undefined) return;
  const now = processStartTime(main.pid);
  // The leader may be gone while its group lives on; a leader with another start time is a stranger's.
  if (now === undefined || now === main.startTime) kill(-main.pid, name);
}

async function findMembers(
  tree: ProcessTree,
  known: ReadonlyMap<number, string>,
  newerThan: number | undefined,
): Promise<ProcessEntry[]> {
  const processes = await listProcesses(newerThan);
  if (tree.main !== undefined && !processes.some(({ pid }) => pid === tree.main?.pid)) {
    const main = readProcess(tree.main.pid);
    if (main !== undefined) processes.push(main);
  }
  const members = new Set<number>();
  for (const entry of processes) {
    if (
      isOfGroup(entry, tree.main, processes) ||
      known.get(entry.pid) === entry.startTime ||
      hasCookie(entry, tree)
    )
      members.add(entry.pid);
  }
  addDescendants(members, processes);
  return processes.filter((entry) => members.has(entry.pid) && !entry.zombie && entry.pid !== process.pid);
}

function isOfGroup(
  entry: ProcessEntry,
  main: MainProcess | undefined,
  processes: readonly ProcessEntry[],
): boolean {
  if (main === undefined || (entry.groupId !== main.pid && entry.sessionId !== main.pid)) return false;
  // While a group lives, its leader's pid is not given to another; a stranger there means that the group has ended.
  return !processes.some(({ pid, startTime }) => pid === main.pid && startTime !== main.startTime);
}

function hasCookie(entry: ProcessEntry, { jobId, main }: ProcessTree): boolean {
  // What started before the job can't be of the job; most of a system did. Kernel threads have no environment.
  if (main !== undefined && entry.startOrder < main.startOrder) return false;
  if (entry.parentPid === 2 && entry.groupId === 0) return false;
  return readEnvironmentVariable(entry.pid, jobCookieName) === jobId;
}

function addDescendants(members: Set<number>, processes: readonly ProcessEntry[]): void {
  for (let grew = true; grew; ) {
    grew = false;
    for (const { pid, parentPid } of processes) {
      if (!members.has(parentPid) || members.has(pid)) continue;
      members.add(pid);
      grew = true;
    }
  }
}

function signal({ pid, startTime }: ProcessEntry, name: NodeJS.Signals): void {
  // The pid may have been reused since the look: only the very process that was seen is signalled.
  if (processStartTime(pid) === startTime) kill(pid, name);
}

function kill(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    // ESRCH: it ended by itself. EPERM: it changed its user (sudo); it can't be ended from here.
    if (!isErrno(error, 'ESRCH') && !isErrno(error, 'EPERM')) throw error;
  }
}

function isErrno(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

/** Windows has no signals to ask with: the tree is ended at once. */
function taskkill({ main }: ProcessTree): Promise<void> {
  return new Promise((resolve) => {
    if (main === undefined) resolve();
    // An error means that no such process is left.
    else execFile('taskkill', ['/pid', String(main.pid), '/T', '/F'], { windowsHide: true }, () => resolve());
  });
}
