import { buildIfStale } from './build-if-stale.ts';
import { runDaemon } from './run-daemon.ts';

const built = await buildIfStale();
if (built === 0) await runDaemon(process.argv.slice(2));
else process.exitCode = built;
