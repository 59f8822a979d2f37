import { readdirSync, unlinkSync } from 'node:fs';
import { parentOf } from '../lib/byte-path.ts';
import { openConfined } from '../lib/confined-folder.ts';
import { tempFileName } from '../lib/put-in-place.ts';
import type { Step } from './mutation-plan.ts';

/** Removes what a write that a crash cut short left beside the paths of these steps. Nothing may be written meanwhile. */
export function removeTempFiles(root: string, steps: readonly Step[]): void {
  const written = steps.flatMap((step) => (step.kind === 'write' ? [parentOf(step.path)] : []));
  for (const folder of new Set(written)) {
    try {
      using open = openConfined(root, folder);
      const names = readdirSync(open.self, { encoding: 'latin1' });
      for (const name of names.filter((each) => tempFileName.test(each))) unlinkSync(open.entry(name));
    } catch {
      // The folder is gone, or not ours to change any more: such a file is known by its name, and shown to nobody.
    }
  }
}
