import { execFile } from 'node:child_process';
import { readdir, readFile, readlink } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/**
 * Whether `pid` is the process that wrote down `startedAt` (the daemon's lock file), and not a later one
 * with a reused pid. Where the start time can't be had, a living process with that pid counts.
 */
export async function isSameProcess(pid: number, startedAt: string): Promise<boolean> {
  if (!isAlive(pid)) return false;
  const found = await startTime(pid);
  return startedAt === '' || found === null || found === startedAt;
}

/**
 * Whether `pid` is the process that listens on this TCP port of 127.0.0.1. Known on Linux for processes
 * of the same user; elsewhere always true, and the answer on the port has to speak for itself.
 */
export async function listensOn(pid: number, port: number): Promise<boolean> {
  if (process.platform !== 'linux') return true;
  const sockets = await listeningSockets(port);
  const folder = `/proc/${pid}/fd`;
  for (const descriptor of await readdir(folder).catch(() => [])) {
    const target = await readlink(`${folder}/${descriptor}`).catch(() => ''); // closed meanwhile
    if (sockets.has(target)) return true;
  }
  return false;
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

async function startTime(pid: number): Promise<string | null> {
  try {
    if (process.platform === 'linux') return await linuxStartTime(pid);
    if (process.platform === 'win32') return null;
    const { stdout } = await run('ps', ['-p', String(pid), '-o', 'lstart='], { timeout: 5_000 });
    return stdout.trim().split(/\s+/).join(' ');
  } catch {
    // It ended between the two looks; `isAlive` of the next round will say so.
    return null;
  }
}

/** Boot id and clock ticks since boot, as the daemon's lock has it. */
async function linuxStartTime(pid: number): Promise<string> {
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1');
  const boot = await readFile('/proc/sys/kernel/random/boot_id', 'latin1');
  // The name in parentheses may hold spaces and parentheses: fields are counted from the last one.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return `${boot.trim()}:${fields[19]}`;
}

/** `socket:[inode]` of each socket that listens on 127.0.0.1 with this port (proc(5), net/tcp). */
async function listeningSockets(port: number): Promise<Set<string>> {
  const address = `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const rows = (await readFile('/proc/net/tcp', 'latin1')).split('\n').map((row) => row.trim().split(/\s+/));
  const listening = rows.filter((fields) => fields[1] === address && fields[3] === '0A');
  return new Set(listening.map((fields) => `socket:[${fields[9]}]`));
}
