/**
 * Run as a process: swaps `<root>/folder` for a link to `<outside>`, and back, as fast as it can, until it is killed.
 * It takes what is made in the folder away now and then. Prints `swapping` once it has begun.
 */
import { lstatSync, readdirSync, renameSync, rmSync, symlinkSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';

const [root = '', outside = ''] = process.argv.slice(2);
const folder = join(root, 'folder');
const aside = join(root, 'aside');

for (let round = 0; ; round += 1) {
  renameSync(folder, aside);
  inPlace(() => symlinkSync(outside, folder));
  if (round === 0) process.stdout.write('swapping\n');
  unlinkSync(folder);
  inPlace(() => renameSync(aside, folder));
  if (round % 100 === 99) tidy();
  // The folder is to be met as often as the link.
  for (let looks = 0; looks < 40; looks += 1) lstatSync(root);
}

/** Where the other side has made the folder anew meanwhile, that one goes. */
function inPlace(put: () => void): void {
  for (let done = false; !done; ) {
    try {
      put();
      done = true;
    } catch {
      remove(folder);
    }
  }
}

function tidy(): void {
  for (const name of readdirSync(folder)) if (name.startsWith('made-')) remove(join(folder, name));
}

function remove(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch {
    // The other side has put something into it in this very moment: it goes the next time.
  }
}
