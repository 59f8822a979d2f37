import { createHash } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readlinkSync,
  readSync,
  type Stats,
} from 'node:fs';
import { blobId, sha256 } from './blob.ts';
import { maxKeptBytes } from './entry-state.ts';
import type { ObjectStore } from './object-store.ts';
import { orNull } from './pinned-folder.ts';
import type { Entry } from './tree-index.ts';

/** The times of a file move in steps of up to 10 ms: what changed twice within this may look unchanged. */
const racyMs = 50;
const maxTries = 3;

/** Whether the file may be taken as what it was when `entry` was made of it, without reading it. */
export function isUnchanged(entry: Entry, stats: Stats): boolean {
  return (
    !entry.isRacy &&
    entry.mtimeMs === stats.mtimeMs &&
    entry.ctimeMs === stats.ctimeMs &&
    entry.ino === stats.ino &&
    entry.size === stats.size &&
    entry.mode === modeOf(stats)
  );
}

/**
 * Reads a file or link and keeps its content in `store`. Null where it is gone or something else by now. What is
 * changed while it is read is read again; after three tries it counts as it was read, and as racy.
 */
export function readEntry(path: Buffer | string, store: ObjectStore): Entry | null {
  for (let attempt = 1; ; attempt += 1) {
    const stats = orNull(() => lstatSync(path));
    if (stats === null) return null;
    const read = stats.isSymbolicLink() ? readLink(path, stats, store) : readFile(path, stats, store);
    if (read !== 'changed') return read;
    if (attempt >= maxTries) return readAnyway(path, store);
  }
}

function readLink(path: Buffer | string, stats: Stats, store: ObjectStore): Entry | 'changed' {
  const target = orNull(() => readlinkSync(path, 'buffer'));
  const after = orNull(() => lstatSync(path));
  if (target === null || after === null || !isSameStats(stats, after)) return 'changed';
  return entryOf(stats, target, store);
}

function readFile(path: Buffer | string, stats: Stats, store: ObjectStore): Entry | 'changed' | null {
  if (!stats.isFile()) return null;
  return withFile(path, (file) => {
    const before = fstatSync(file);
    if (!before.isFile()) return 'changed';
    const entry = before.size > maxKeptBytes ? hashLarge(file, before) : hashSmall(file, before, store);
    return entry !== null && isSameStats(before, fstatSync(file)) ? entry : 'changed';
  });
}

/** Of a file that never rests, such as a log: what is there now. */
function readAnyway(path: Buffer | string, store: ObjectStore): Entry | null {
  const read = withFile(path, (file) => {
    const stats = fstatSync(file);
    if (!stats.isFile()) return 'changed';
    const bytes = Buffer.allocUnsafe(Math.min(stats.size, maxKeptBytes + 1));
    if (bytes.length > maxKeptBytes) return { ...hashLarge(file, stats), isRacy: true };
    return {
      ...entryOf(stats, bytes.subarray(0, readSync(file, bytes, 0, bytes.length, 0)), store),
      isRacy: true,
    };
  });
  return read === 'changed' ? null : read;
}

function withFile(
  path: Buffer | string,
  act: (file: number) => Entry | 'changed' | null,
): Entry | 'changed' | null {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const file = orNull(() => openSync(path, flags));
  if (file === null) return 'changed';
  try {
    return act(file);
  } finally {
    closeSync(file);
  }
}

function hashSmall(file: number, stats: Stats, store: ObjectStore): Entry | null {
  const bytes = Buffer.allocUnsafe(stats.size);
  let done = 0;
  while (done < bytes.length) {
    const read = readSync(file, bytes, done, bytes.length - done, done);
    if (read === 0) return null;
    done += read;
  }
  return entryOf(stats, bytes, store);
}

function hashLarge(file: number, stats: Stats): Entry {
  const digest = createHash('sha256');
  const part = Buffer.allocUnsafe(1024 * 1024);
  let size = 0;
  for (let read = readSync(file, part, 0, part.length, 0); read > 0; ) {
    digest.update(part.subarray(0, read));
    size += read;
    read = readSync(file, part, 0, part.length, size);
  }
  return { ...timesOf(stats), size, sha: digest.digest('binary'), id: null };
}

function entryOf(stats: Stats, content: Uint8Array, store: ObjectStore): Entry {
  const id = content.length > maxKeptBytes ? null : store.add(content, blobId(content));
  return { ...timesOf(stats), size: content.length, sha: sha256(content), id };
}

function timesOf(stats: Stats) {
  const { mtimeMs, ctimeMs, ino } = stats;
  return { mode: modeOf(stats), mtimeMs, ctimeMs, ino, isRacy: Date.now() - ctimeMs < racyMs };
}

/** As git sees it: of the permission bits only the owner's right to execute counts. */
function modeOf(stats: Stats): Entry['mode'] {
  if (stats.isSymbolicLink()) return '120000';
  return (stats.mode & 0o100) === 0 ? '100644' : '100755';
}

function isSameStats(a: Stats, b: Stats): boolean {
  return a.size === b.size && a.mtimeMs === b.mtimeMs && a.ctimeMs === b.ctimeMs && a.ino === b.ino;
}
