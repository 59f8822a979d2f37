import type { BigIntStats } from 'node:fs';

/** What the file system says of an entry; a link is looked at itself, not followed. */
export interface EntryStat {
  readonly kind: 'file' | 'link' | 'folder' | 'other';
  /** Permission bits. */
  readonly mode: number;
  /** Bytes. */
  readonly size: number;
  readonly ino: bigint;
  readonly dev: bigint;
  readonly mtimeNs: bigint;
  readonly ctimeNs: bigint;
}

/** What has to be at a path for a change to be made there. */
export type Expected = EntryStat | 'absent' | 'anything';

export function entryStat(stats: BigIntStats): EntryStat {
  return {
    kind: stats.isFile()
      ? 'file'
      : stats.isSymbolicLink()
        ? 'link'
        : stats.isDirectory()
          ? 'folder'
          : 'other',
    mode: Number(stats.mode & 0o777n),
    size: Number(stats.size),
    ino: stats.ino,
    dev: stats.dev,
    mtimeNs: stats.mtimeNs,
    ctimeNs: stats.ctimeNs,
  };
}

/** Whether the entry is the one expected, and its content untouched, as far as its stat tells. */
export function isExpected(stat: EntryStat | null, expected: Expected): boolean {
  if (expected === 'anything') return true;
  if (expected === 'absent' || stat === null) return expected === 'absent' && stat === null;
  // The size and times of a folder change with what is in it.
  if (stat.kind === 'folder') return expected.kind === 'folder' && stat.ino === expected.ino;
  return (
    stat.kind === expected.kind &&
    stat.ino === expected.ino &&
    stat.size === expected.size &&
    stat.mtimeNs === expected.mtimeNs
  );
}
