import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { endWithParent } from './end-with-parent.ts';
import { root } from './run.ts';

/** Becomes `tallystick serve`, in this very process. */
export async function runDaemon(args: readonly string[]): Promise<void> {
  endWithParent();
  process.argv.splice(2, process.argv.length, 'serve', ...args);
  await import(pathToFileURL(join(root, 'dist/daemon/tallystick.js')).href);
}
