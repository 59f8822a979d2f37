import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

interface CpuProfile {
  nodes: { id: number; callFrame: { functionName: string; url: string; lineNumber: number } }[];
  samples: number[];
  timeDeltas: number[];
}

/** The functions that took most time themselves, over all of a folder's `.cpuprofile` files; idle time left out. */
export function topSelfTimes(dir: string, count: number): string[] {
  const selfMs = new Map<string, number>();
  for (const file of readdirSync(dir).filter((name) => name.endsWith('.cpuprofile'))) {
    addSelfTimes(JSON.parse(readFileSync(join(dir, file), 'utf8')), selfMs);
  }
  const total = [...selfMs.values()].reduce((sum, ms) => sum + ms, 0);
  return [...selfMs]
    .sort((a, b) => b[1] - a[1])
    .slice(0, count)
    .map(
      ([name, ms]) =>
        `${((100 * ms) / total).toFixed(1).padStart(5)} %  ${ms.toFixed(0).padStart(6)} ms  ${name}`,
    );
}

function addSelfTimes({ nodes, samples, timeDeltas }: CpuProfile, selfMs: Map<string, number>): void {
  const names = new Map(
    nodes.map(({ id, callFrame: { functionName, url, lineNumber } }) => [
      id,
      url === ''
        ? functionName
        : `${functionName || '(anonymous)'} ${url.split('/').slice(-2).join('/')}:${lineNumber + 1}`,
    ]),
  );
  samples.forEach((id, index) => {
    const name = names.get(id) ?? '(unknown)';
    if (name === '(idle)') return;
    selfMs.set(name, (selfMs.get(name) ?? 0) + (timeDeltas[index] ?? 0) / 1000);
  });
}
