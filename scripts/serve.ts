import { buildIfStale } from './build-if-stale.ts';
import { run } from './run.ts';

const built = await buildIfStale();
process.exitCode =
  built === 0 ? await run('node', ['dist/daemon/tallystick.js', 'serve', ...process.argv.slice(2)]) : built;
