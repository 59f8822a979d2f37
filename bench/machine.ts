import { execFileSync } from 'node:child_process';
import { availableParallelism, cpus, loadavg, release, type as systemType, totalmem } from 'node:os';

export interface Machine {
  date: string;
  commit: string;
  node: string;
  system: string;
  processor: string;
  cores: number;
  memoryGib: number;
  /** Runnable processes over the minute before: what else was at work. */
  load: number;
}

export function describeMachine(root: string): Machine {
  return {
    date: new Date().toISOString(),
    commit: commitOf(root),
    node: process.version,
    system: `${systemType()} ${release()}`,
    processor: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    memoryGib: Math.round(totalmem() / 2 ** 30),
    load: loadavg()[0] ?? 0,
  };
}

/** `none` where there is no commit to name; `+` after it when files differ from it. */
function commitOf(root: string): string {
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', root, ...args], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  try {
    return git('rev-parse', '--short=12', 'HEAD') + (git('status', '--porcelain') === '' ? '' : '+');
  } catch {
    return 'none'; // no git, no repository or no commit yet: the measurement stands all the same
  }
}
