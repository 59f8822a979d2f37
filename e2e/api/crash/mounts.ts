import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';

/** A file system mounted for one test. */
export interface Mounted extends Disposable {
  readonly path: string;
}

/** Mounts a file system in memory that holds `sizeKiB` and no more. */
export function mountTmpfs(path: string, sizeKiB: number): Mounted {
  mkdirSync(path, { recursive: true });
  return mount(path, ['-t', 'tmpfs', '-o', `size=${sizeKiB}k`, 'tmpfs']);
}

/** Makes an ext4 file system in a file. */
export function makeExt4(image: string, sizeMiB: number): void {
  execFileSync('truncate', ['-s', `${sizeMiB}M`, image]);
  execFileSync('mkfs.ext4', ['-q', '-F', image]);
}

/** Mounts a file as a disk of its own. Mounting replays the journal, as after a power cut. */
export function mountImage(image: string, path: string): Mounted {
  mkdirSync(path, { recursive: true });
  return mount(path, ['-o', 'loop', image]);
}

/** What the disk behind `image` holds at this moment: what the kernel still keeps in memory is not in the copy. */
export function copyAsIfPowerWereCut(image: string, copy: string): void {
  execFileSync('cp', ['--sparse=always', image, copy]);
}

/** Why nothing can be mounted here; undefined where it can. */
export function mountMissing(kind: 'tmpfs' | 'loop', scratch: string): string | undefined {
  if (process.platform !== 'linux') return 'mounting is tried on Linux alone';
  if (process.getuid?.() !== 0) return 'mounting needs root';
  if (kind === 'loop' && spawnSync('mkfs.ext4', ['-V']).error) return 'mkfs.ext4 is not installed';
  try {
    if (kind === 'loop') makeExt4(`${scratch}/probe.img`, 4);
    using _ =
      kind === 'loop'
        ? mountImage(`${scratch}/probe.img`, `${scratch}/probe`)
        : mountTmpfs(`${scratch}/probe`, 64);
    return undefined;
  } catch (error) {
    return `mounting is not allowed here: ${error instanceof Error ? error.message : error}`;
  }
}

function mount(path: string, args: readonly string[]): Mounted {
  execFileSync('mount', [...args, path], { stdio: ['ignore', 'pipe', 'pipe'] });
  return {
    path,
    [Symbol.dispose]: () => {
      execFileSync('umount', [path]);
    },
  };
}
