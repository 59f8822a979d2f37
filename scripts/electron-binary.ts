import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './run.ts';

/** Path of an Electron binary that is here already; undefined where there is none. Nothing is downloaded. */
export function findElectron(environment: NodeJS.ProcessEnv = process.env): string | undefined {
  const packageDir = join(root, 'node_modules', 'electron');
  const override = environment.ELECTRON_OVERRIDE_DIST_PATH;
  const folders = override === undefined ? [join(packageDir, 'dist')] : [override, join(packageDir, 'dist')];
  const name = binaryName(packageDir);
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
}

/** The package notes the name when its binary is installed; before that it is the platform's. */
function binaryName(packageDir: string): string {
  const noted = join(packageDir, 'path.txt');
  if (existsSync(noted)) return readFileSync(noted, 'utf8').trim();
  if (process.platform === 'darwin') return 'Electron.app/Contents/MacOS/Electron';
  return process.platform === 'win32' ? 'electron.exe' : 'electron';
}
