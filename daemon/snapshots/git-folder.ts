import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { packTempPrefix } from './pack-writer.ts';
import { asStorageErrors, replaceFileSync, syncFolderOfSync } from './sync-files.ts';

/** `git gc` and `git prune` refuse to remove anything here: no ref leads to what we keep. */
const config =
  '[core]\n\trepositoryformatversion = 1\n\tbare = true\n[extensions]\n\tpreciousObjects = true\n';

/**
 * Makes `folder` a git directory that git can read (`git --git-dir=<folder> cat-file …`), where it is none yet, and
 * clears away what a crash left unfinished. Answers the folder of its packs.
 */
export function prepareGitFolder(folder: string): string {
  const packs = join(folder, 'objects/pack');
  makeFolders(packs);
  makeFolders(join(folder, 'refs/heads'));
  if (!existsSync(join(folder, 'config'))) replaceFileSync(join(folder, 'config'), config);
  if (!existsSync(join(folder, 'HEAD'))) replaceFileSync(join(folder, 'HEAD'), 'ref: refs/heads/main\n');
  for (const name of readdirSync(folder))
    if (name.endsWith('.tmp')) rmSync(join(folder, name), { force: true });
  for (const name of readdirSync(packs)) {
    const withoutIndex = name.endsWith('.pack') && !existsSync(join(packs, name.replace(/\.pack$/, '.idx')));
    if (name.startsWith(packTempPrefix) || name.endsWith('.tmp') || withoutIndex)
      rmSync(join(packs, name), { force: true });
  }
  return packs;
}

/** Private to the user; durable, so that what is put into them is. */
export function makeFolders(path: string): void {
  if (existsSync(path)) return;
  makeFolders(dirname(path));
  asStorageErrors(path, () => mkdirSync(path, { recursive: true, mode: 0o700 }));
  syncFolderOfSync(path);
}
