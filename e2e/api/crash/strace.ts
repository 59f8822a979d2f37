import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';

/** What is done to one call of a system call. */
export interface Injection {
  syscall: string;
  /** The n-th call counted from the attaching, from 1. strace counts for each thread by itself. */
  nth: number;
  effect: 'signal=KILL' | `error=${string}`;
  /** Only calls on this file count, and are seen. */
  path?: string;
}

export interface AttachOptions {
  /** Of a process, or of one of its threads: then that is the `main` one. */
  pid: number;
  /** Where strace writes what it sees. */
  logPath: string;
  /** `all` threads, also those to come, or the `main` one alone. */
  threads: 'all' | 'main';
  syscalls: readonly string[];
  /** Whether the log shows which file a descriptor stands for. */
  paths?: boolean;
  injection?: Injection;
}

/** strace attached to a running process, for as long as that lives. */
export interface Attached {
  /** What strace saw, once the process has ended. */
  readonly log: Promise<string>;
}

/**
 * Attaches strace to a process and resolves once it sees every call; counts begin here. It is never detached:
 * strace 6.1 hangs where it is told to detach from a process that is just dying.
 */
export async function attachStrace(options: AttachOptions): Promise<Attached> {
  const { pid, logPath, threads, syscalls, paths, injection } = options;
  const strace = spawn(
    'strace',
    [
      ...(threads === 'all' ? ['-f'] : []),
      ...(paths ? ['-y'] : []),
      ...(injection?.path === undefined ? [] : ['-P', injection.path]),
      ...['-p', String(pid), '-o', logPath, '-e', `trace=${syscalls.join(',')}`],
      ...(injection ? ['-e', `inject=${injection.syscall}:${injection.effect}:when=${injection.nth}`] : []),
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const ended = once(strace, 'close');
  const messages: string[] = [];
  const attached = new Promise<void>((resolve, reject) => {
    createInterface({ input: strace.stderr }).on('line', (line) => {
      messages.push(line);
      if (line.includes(' attached')) resolve();
    });
    void ended.then(() => reject(new Error(`strace could not attach: ${messages.join('; ')}`)));
  });
  await attached;
  return { log: ended.then(() => readFile(logPath, 'utf8')) };
}

/** Why strace can't be used here; undefined where it can. */
export function straceMissing(): string | undefined {
  if (process.platform !== 'linux') return 'strace is for Linux';
  const probe = spawnSync('strace', ['-o', '/dev/null', '-e', 'inject=getppid:error=EIO:when=1', 'true'], {
    encoding: 'utf8',
  });
  if (probe.error) return `strace is not installed (${probe.error.message})`;
  return probe.status === 0 ? undefined : `strace may not trace here: ${probe.stderr.trim()}`;
}

/** Whether an injected SIGKILL met its system call, by the log: such a call never came back. */
export function wasStruck(log: string, syscall: string): boolean {
  return new RegExp(`\\b${syscall}(\\(| resumed).* = \\?$`, 'm').test(log);
}

/** How often the log shows each system call begun, in the thread that made most of them. */
export function countCalls(log: string): Map<string, number> {
  const perThread = new Map<string, number>();
  const most = new Map<string, number>();
  for (const line of log.split('\n')) {
    const [, thread = 'main', syscall] = /^(?:(\d+) +)?(?:\[pid +\d+\] )?([a-z]\w*)\(/.exec(line) ?? [];
    if (!syscall) continue;
    const count = (perThread.get(`${thread} ${syscall}`) ?? 0) + 1;
    perThread.set(`${thread} ${syscall}`, count);
    most.set(syscall, Math.max(count, most.get(syscall) ?? 0));
  }
  return most;
}
