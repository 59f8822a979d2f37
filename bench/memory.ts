import { readFileSync } from 'node:fs';

/** Resident bytes of a process now; throws when it is gone or the machine has no /proc. */
export function residentBytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1];
  if (kilobytes === undefined) throw new Error(`process ${pid} has no VmRSS`);
  return Number(kilobytes) * 1024;
}

/** The highest of samples taken every `everyMs` while `work` runs. */
export async function peakResidentBytes<T>(pid: number, everyMs: number, work: () => Promise<T>) {
  let peakBytes = residentBytes(pid);
  const sampling = setInterval(() => {
    peakBytes = Math.max(peakBytes, residentBytes(pid));
  }, everyMs);
  try {
    const result = await work();
    return { result, peakBytes };
  } finally {
    clearInterval(sampling);
  }
}

/** The median of samples over a second: what a process holds when it has nothing to do. */
export async function idleBytes(pid: number): Promise<number> {
  const samples: number[] = [];
  for (let sample = 0; sample < 11; sample += 1) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    samples.push(residentBytes(pid));
  }
  return samples.sort((a, b) => a - b)[5] ?? 0;
}
