import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * One process per folder. A later one signals the holder, whose `onOther` is then called, and answers
 * false. Synchronous, as `app.requestSingleInstanceLock` is.
 */
export function takeInstanceLock(folder: string, onOther: () => void): boolean {
  const path = join(folder, 'SingletonLock');
  const holder = readHolder(path);
  if (holder !== null && signal(holder)) return false;
  writeFileSync(path, String(process.pid));
  process.on('SIGUSR2', onOther);
  return true;
}

function readHolder(path: string): number | null {
  try {
    return Number(readFileSync(path, 'utf8'));
  } catch {
    return null; // nobody has been here
  }
}

function signal(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGUSR2');
  } catch {
    return false; // it has ended
  }
}
