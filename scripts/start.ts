import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { buildIfStale } from './build-if-stale.ts';
import { findElectron } from './electron-binary.ts';
import { endWithParent } from './end-with-parent.ts';
import { root, run } from './run.ts';
import { runDaemon } from './run-daemon.ts';

/** `npm start`: the desktop; where no Electron can be had, the daemon with a link to the same panel. */
async function start(args: readonly string[]): Promise<void> {
  process.exitCode = await buildIfStale();
  if (process.exitCode !== 0) return;
  const electron = findElectron() ?? (await installElectron());
  if (electron !== undefined) {
    endWithParent();
    process.exitCode = await run(electron, [root, ...args]);
    return;
  }
  process.stderr.write(
    'Electron could not be installed here, so the daemon starts without its window: open the panel in a browser.\n\n',
  );
  await runDaemon(args);
}

/** Electron's package fetches its binary on first use. */
async function installElectron(): Promise<string | undefined> {
  if (process.env.ELECTRON_SKIP_BINARY_DOWNLOAD !== undefined) return undefined;
  process.stderr.write('Fetching the Electron binary, once…\n');
  const { status, stderr } = spawnSync('node', [join(root, 'node_modules/electron/install.js')], {
    encoding: 'utf8',
  });
  if (status === 0) return findElectron();
  process.stderr.write(`It can't be had: ${stderr.trim().split('\n', 1)[0] ?? ''}\n`);
  return undefined;
}

await start(process.argv.slice(2));
