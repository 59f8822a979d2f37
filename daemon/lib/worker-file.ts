import { basename, join, sep } from 'node:path';

/**
 * The file to start a worker thread from. `name` is the worker's source below `daemon/`, without `.ts`, such as
 * `receipts/verifier/verify-worker`: run from sources, this is that source; in the built daemon, the bundle that
 * scripts/build.ts makes of it, `dist/daemon/<name>.js`. To be called by the daemon or the command line, not by a
 * worker: inside a worker's own bundle the path would be taken from the wrong folder.
 */
export function workerFile(name: string): string {
  // In a packed desktop, the files of threads lie beside the archive.
  const here = import.meta.dirname.replace(`app.asar${sep}`, `app.asar.unpacked${sep}`);
  return basename(here) === 'lib' ? join(here, '..', `${name}.ts`) : join(here, `${name}.js`);
}
