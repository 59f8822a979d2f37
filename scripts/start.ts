import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { buildIfStale } from './build-if-stale.ts';
import { findElectron } from './electron-binary.ts';
import { root, run } from './run.ts';

/** `npm start`: the desktop; where no Electron can be had, the daemon with a link to the same panel. */
async function start(args: readonly string[]): Promise<number> {
  const built = await buildIfStale();
  if (built !== 0) return built;
  const electron = findElectron() ?? (await installElectron());
  if (electron !== undefined) return run(electron, [root, ...args]);
  process.stderr.write(
    'Electron could not be installed here, so the daemon starts without its window: open the panel in a browser.\n\n',
  );
  return run('node', ['dist/daemon/tallystick.js', 'serve', ...args]);
}

/** Electron's package fetches its binary on first use. */
async function installElectron(): Promise<string | undefined> {
  if (process.env.ELECTRON_SKIP_BINARY_DOWNLOAD !== undefined) return undefined;
  process.stderr.write('Fetching the Electron binary, once…\n');
  const { status, stderr } = spawnSync('node', [join(root, 'node_modules/electron/install.js')], {
    encoding: 'utf8',
  });
  if (status === 0) return findElectron();
  process.stderr.write(`${stderr.trim().split('\n', 1)[0] ?? ''}\n`);
  return undefined;
}

process.exitCode = await start(process.argv.slice(2));
