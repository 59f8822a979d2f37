import { createHash } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openTree } from './testing/open-tree.ts';

const rounds = 60;
const changesPerRound = 15;

/** Every leaf of a tree by a walk of its own: mode and hash. */
function leavesOf(folder: string, prefix = ''): Map<string, string> {
  const leaves = new Map<string, string>();
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    const stats = lstatSync(path);
    if (stats.isDirectory()) {
      const below = leavesOf(path, `${prefix}${name}/`);
      if (below.size === 0) leaves.set(`${prefix}${name}/`, '040000 absent');
      for (const [leaf, state] of below) leaves.set(leaf, state);
      continue;
    }
    const content = stats.isSymbolicLink() ? readlinkSync(path) : readFileSync(path);
    const mode = stats.isSymbolicLink() ? '120000' : (stats.mode & 0o100) === 0 ? '100644' : '100755';
    leaves.set(prefix + name, `${mode} sha256:${createHash('sha256').update(content).digest('hex')}`);
  }
  return leaves;
}

function differences(before: Map<string, string>, after: Map<string, string>) {
  return [...new Set([...before.keys(), ...after.keys()])]
    .filter((path) => before.get(path) !== after.get(path))
    .sort()
    .map((path) => ({ path, before: before.get(path) ?? null, after: after.get(path) ?? null }));
}

function randomFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
}

/** Does something to the tree; few names, so that files, folders and links often take each other's place. */
function changeSomething(root: string, random: (below: number) => number): void {
  const folders = ['', 'a/', 'b/', 'a/c/', 'a/1/', 'b/d/e/'];
  const path = () => join(root, `${folders[random(folders.length)]}${['x', 'y', 'a', 'c', '1'][random(5)]}`);
  const one = path();
  const other = path();
  try {
    const kind = random(10);
    if (kind < 3) writeFileSync(one, `content ${random(5)}`);
    else if (kind === 3) appendFileSync(one, '.');
    else if (kind === 4) mkdirSync(one, { recursive: true });
    else if (kind === 5) rmSync(one, { recursive: true, force: true });
    else if (kind === 6) renameSync(one, other);
    else if (kind === 7) symlinkSync(other, one);
    else if (kind === 8) chmodSync(one, [0o644, 0o755][random(2)] ?? 0o644);
    else mkdirSync(join(root, folders[random(folders.length)] ?? ''), { recursive: true });
  } catch (error) {
    // What the system refuses (a folder in place of a file, and the like) is not done.
    if (!(error instanceof Error && 'code' in error)) throw error;
  }
}

test.each([
  { seed: 1, options: {} },
  { seed: 2, options: {} },
  { seed: 3, options: { maxQueuedEvents: 40 } },
  { seed: 4, options: { maxWatchedFolders: 0 } },
])(
  `tells ${rounds * changesPerRound} random changes as a walk of the whole tree does (seed $seed)`,
  async ({ seed, options }) => {
    await using tree = await openTree(undefined, options);
    const random = randomFrom(seed);
    let told = 0;
    for (let round = 0; round < rounds; round += 1) {
      const before = leavesOf(tree.root);
      const { changes } = await tree.run(() => {
        for (let at = 0; at < changesPerRound; at += 1) changeSomething(tree.root, random);
      });
      const expected = differences(before, leavesOf(tree.root));
      expect(
        changes.map(({ path, before, after }) => ({
          path,
          before: before && `${before.mode} ${before.hash}`,
          after: after && `${after.mode} ${after.hash}`,
        })),
      ).toEqual(expected);
      // Undo needs every one of them.
      for (const { before } of changes) if (before?.oid) expect(await tree.keeper.has(before.oid)).toBe(true);
      told += changes.length;
    }
    expect(told).toBeGreaterThan(rounds);
    expect(existsSync(tree.folder)).toBe(true);
  },
);
