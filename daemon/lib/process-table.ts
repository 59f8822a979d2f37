import { execFileSync } from 'node:child_process';
import { closeSync, openSync, readdirSync, readSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';

/** One process as the operating system shows it now. */
export interface ProcessEntry {
  readonly pid: number;
  readonly parentPid: number;
  readonly groupId: number;
  readonly sessionId: number;
  /** Zombies have ended; only their parent has not taken note yet. */
  readonly zombie: boolean;
  /** Tells this process from a later one with the same pid; equal strings mean the same process. */
  readonly startTime: string;
  /** Orders processes of one boot by their start; equal where the system's clock tick is too coarse to tell. */
  readonly startOrder: number;
}

/**
 * Pid of the process that was started last, on Linux. Pids are given out in ascending order and start over at the top:
 * then the newest is below an older one.
 */
export function newestPid(): number | undefined {
  if (process.platform !== 'linux') return undefined;
  const last = Number(readIfThere('/proc/loadavg')?.trim().split(' ').at(-1));
  return Number.isInteger(last) ? last : undefined;
}

/** Start time of a process, or undefined when there is none with this pid. */
export function processStartTime(pid: number): string | undefined {
  return readProcess(pid)?.startTime;
}

/** One process, or undefined when there is none with this pid. */
export function readProcess(pid: number): ProcessEntry | undefined {
  switch (process.platform) {
    case 'linux':
      return readProcEntry(pid);
    case 'win32':
      return readBarely(pid);
    default:
      return listWithPs(['-p', String(pid)])[0];
  }
}

/**
 * Every process that this user can see, or at least those that were started after the one with the pid `newerThan`,
 * which must have been started no more than a few seconds ago. It is read in slices that let other work of the event
 * loop through, so it is no picture of one instant. Windows has no cheap listing: there the list is empty, see
 * `kill-tree.ts`.
 */
export async function listProcesses(newerThan?: number): Promise<ProcessEntry[]> {
  switch (process.platform) {
    case 'linux':
      return listProcEntries(newerThan);
    case 'win32':
      return [];
    default:
      return listWithPs(['-ax']);
  }
}

/**
 * Value of an environment variable as the process was started with it; undefined when it is not set, or when the
 * process is gone or another user's. Linux reads /proc; elsewhere `ps -E` shows the environment of own processes.
 */
export function readEnvironmentVariable(pid: number, name: string): string | undefined {
  const wanted = `${name}=`;
  const entries = process.platform === 'linux' ? readProcEnvironment(pid) : readPsEnvironment(pid);
  return entries.find((entry) => entry.startsWith(wanted))?.slice(wanted.length);
}

/** About a third of a millisecond of the event loop. */
const sliceSize = 32;

async function listProcEntries(newerThan: number | undefined): Promise<ProcessEntry[]> {
  const entries: ProcessEntry[] = [];
  for (const [index, pid] of listPids(newerThan).entries()) {
    if (index % sliceSize === sliceSize - 1) await setImmediate();
    const entry = readProcEntry(pid);
    if (entry !== undefined) entries.push(entry);
  }
  return entries;
}

let bootId: string | undefined;

function readProcEntry(pid: number): ProcessEntry | undefined {
  const stat = readIfThere(`/proc/${pid}/stat`);
  if (stat === undefined) return undefined;
  // The name in parentheses may itself hold spaces and parentheses: fields are counted from the last one.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  bootId ??= readIfThere('/proc/sys/kernel/random/boot_id')?.trim() ?? '';
  return {
    pid,
    parentPid: Number(fields[1]),
    groupId: Number(fields[2]),
    sessionId: Number(fields[3]),
    zombie: fields[0] === 'Z' || fields[0] === 'X',
    startTime: `${bootId}:${fields[19]}`,
    startOrder: Number(fields[19]),
  };
}

function listPids(newerThan: number | undefined): number[] {
  const newest = newestPid();
  const from = newerThan === undefined || newest === undefined || newest < newerThan ? 1 : newerThan;
  const pids: number[] = [];
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    if (pid >= from) pids.push(pid);
  }
  return pids;
}

function readProcEnvironment(pid: number): string[] {
  return (readIfThere(`/proc/${pid}/environ`) ?? '').split('\0');
}

let readBuffer = Buffer.allocUnsafeSlow(64 * 1024);

/** A file of /proc; it has no size to ask for, and is read into one buffer that all calls share. */
function readIfThere(path: string): string | undefined {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, 'r');
    let length = 0;
    for (let read = -1; read !== 0; length += read) {
      if (length === readBuffer.length)
        readBuffer = Buffer.concat([readBuffer, Buffer.allocUnsafeSlow(length)]);
      read = readSync(descriptor, readBuffer, length, readBuffer.length - length, null);
    }
    return readBuffer.toString('latin1', 0, length);
  } catch {
    // The process ended between listing and reading, or is another user's: it is not there for us.
    return undefined;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

function listWithPs(selection: readonly string[]): ProcessEntry[] {
  return ps([...selection, '-o', 'pid=,ppid=,pgid=,sess=,stat=,lstart='])
    .map((line) => line.trim().split(/\s+/))
    .filter((fields) => fields.length > 5)
    .map(([pid, parentPid, groupId, sessionId, state, ...started]) => ({
      pid: Number(pid),
      parentPid: Number(parentPid),
      groupId: Number(groupId),
      sessionId: Number(sessionId),
      zombie: (state ?? '').startsWith('Z'),
      startTime: started.join(' '),
      startOrder: Date.parse(started.join(' ')),
    }));
}

function readPsEnvironment(pid: number): string[] {
  return ps(['-E', '-ww', '-o', 'command=', '-p', String(pid)]).flatMap((line) => line.split(' '));
}

function ps(args: readonly string[]): string[] {
  try {
    return execFileSync('ps', args, {
      encoding: 'utf8',
      // Start times are compared as text: they must not differ with the caller's time zone or language.
      env: { ...process.env, TZ: 'UTC', LC_ALL: 'C' },
      stdio: ['ignore', 'pipe', 'ignore'],
      timeout: 5_000,
    }).split('\n');
  } catch {
    // ps exits with 1 when no process matches.
    return [];
  }
}

function readBarely(pid: number): ProcessEntry | undefined {
  try {
    process.kill(pid, 0);
    return { pid, parentPid: 0, groupId: 0, sessionId: 0, zombie: false, startTime: '', startOrder: 0 };
  } catch {
    // No such process.
    return undefined;
  }
}
