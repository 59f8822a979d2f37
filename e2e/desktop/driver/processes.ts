import { readdirSync, readFileSync } from 'node:fs';

/** Pids of living processes whose command line has this text; zombies are not alive. */
export function processesWith(text: string): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && pid !== process.pid && commandLine(pid).includes(text));
}

export function isAlive(pid: number): boolean {
  return commandLine(pid) !== '';
}

/** Empty for a process that is gone, and for a zombie. */
function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return ''; // it ended between listing and reading
  }
}
