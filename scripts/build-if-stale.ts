import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { root, run } from './run.ts';

const sources = [
  'daemon',
  'main',
  'renderer',
  'assets',
  'scripts/build.ts',
  'vite.config.ts',
  'package.json',
];
const built = [
  'dist/daemon/tallystick.js',
  'dist/docs/index.html',
  'dist/main/index.js',
  'dist/panel/index.html',
];

/** Builds where something is missing or older than its sources. The build's own output goes to standard error. */
export async function buildIfStale(): Promise<number> {
  const builtAt = Math.min(
    ...built.map((file) => (existsSync(join(root, file)) ? statSync(join(root, file)).mtimeMs : 0)),
  );
  if (newest(sources.map((source) => join(root, source))) <= builtAt) return 0;
  process.stderr.write('Building Tallystick…\n');
  return run('node', ['scripts/build.ts'], { quietStdout: true });
}

function newest(paths: readonly string[]): number {
  let latest = 0;
  for (const path of paths) {
    if (!existsSync(path)) continue;
    const stats = statSync(path);
    latest = Math.max(
      latest,
      stats.isDirectory() ? newest(readdirSync(path).map((name) => join(path, name))) : stats.mtimeMs,
    );
  }
  return latest;
}
