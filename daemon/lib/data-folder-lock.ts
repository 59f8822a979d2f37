import { createHash, randomBytes } from 'node:crypto';
import { link, open, readdir, readFile, stat, unlink } from 'node:fs/promises';
import { uptime } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { DataFolderHolder } from './data-folder-holder.ts';
import {
  DataFolderHeldError,
  DataFolderLockBrokenError,
  decodeHolder,
  encodeHolder,
  isAlive,
  isPidInUse,
} from './data-folder-holder.ts';
import { systemErrorCode } from './durable-errors.ts';
import { writeDurably } from './durable-file.ts';
import { processStartTime } from './process-table.ts';

/**
 * Makes this process the one daemon of `dataDir`, an existing folder. A lock whose holder has ended is taken
 * over; of any number of contenders one wins. Fails with `DataFolderHeldError` if another process, or this
 * one, has it, and with `DataFolderLockBrokenError` if the lock file doesn't say who does.
 *
 * Holds among processes of one machine that see each other's pids, on a file system with hard links.
 */
export async function acquireDataFolderLock(dataDir: string): Promise<DataFolderLock> {
  const path = join(dataDir, LOCK_NAME);
  const self = {
    pid: process.pid,
    process_started_at: processStartTime(process.pid) ?? '',
    url: null,
    version: null,
  };
  for (let attempt = 1; !(await createWhole(path, self)); attempt += 1) {
    const found = await readIfThere(path);
    if (!found) continue;
    const holder = decodeHolder(found);
    if (!holder && !(await olderThanThisBoot(path))) throw new DataFolderLockBrokenError(path);
    if (holder && (isAlive(holder) || attempt > MAX_ATTEMPTS)) throw new DataFolderHeldError(holder);
    await removeDead(path, found, self);
  }
  await removeLeftovers(dataDir, self);
  return new DataFolderLock(path, self);
}

/** The held lock. Nothing but ending the process, or `release`, gives it up. */
export class DataFolderLock implements AsyncDisposable {
  readonly #path: string;
  readonly #self: DataFolderHolder;

  constructor(path: string, self: DataFolderHolder) {
    this.#path = path;
    this.#self = self;
  }

  /** Tells others where this daemon listens. Replaces the lock file whole; fails if it is no longer ours. */
  async publish({ url, version }: { url: string; version: string }): Promise<void> {
    const holder = await readHolder(this.#path);
    if (holder && !this.#isOurs(holder)) throw new DataFolderHeldError(holder);
    await writeDurably(this.#path, encodeHolder({ ...this.#self, url, version }));
  }

  /** Gives the folder up. Leaves the file alone if it names another holder; may be called twice. */
  async release(): Promise<void> {
    const holder = await readHolder(this.#path);
    if (holder && this.#isOurs(holder)) await unlinkIfThere(this.#path);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.release();
  }

  #isOurs(holder: DataFolderHolder): boolean {
    return holder.pid === this.#self.pid && holder.process_started_at === this.#self.process_started_at;
  }
}

/** Who holds `dataDir` by its lock file, whether alive or not; undefined where there is none or it is broken. */
export async function readDataFolderHolder(dataDir: string): Promise<DataFolderHolder | undefined> {
  return readHolder(join(dataDir, LOCK_NAME));
}

const LOCK_NAME = 'daemon.lock';
const CLAIM_NAME = /^\.daemon\.lock-claim-[0-9a-f]{32}$/;
const TEMP_NAME = /^\.daemon\.lock-(\d+)-[0-9a-f]{32}\.tmp$/;

/** Waits of 5 ms for others that are removing the same dead lock: about 10 s in all. */
const MAX_ATTEMPTS = 2_000;
const WAIT_MS = 5;

/** Creates `path` with its whole content, or answers false if there is such a file already. */
async function createWhole(path: string, holder: DataFolderHolder): Promise<boolean> {
  const temp = join(dirname(path), `.${LOCK_NAME}-${process.pid}-${randomBytes(16).toString('hex')}.tmp`);
  try {
    await using file = await open(temp, 'wx', 0o600);
    await file.writeFile(encodeHolder(holder));
    // Without it a power cut could leave the name with an empty file, which names no holder.
    await file.sync();
    await link(temp, path);
    return true;
  } catch (error) {
    if (systemErrorCode(error) === 'EEXIST') return false;
    throw error;
  } finally {
    await unlinkIfThere(temp);
  }
}

/**
 * Removes the file at `path` if it still holds the `found` bytes of a dead holder, and never another one that
 * has taken its place. No file system call compares and removes in one step, so the right to remove exactly
 * this content is claimed first, by creating a file named after it. Who has the claim, and then still sees
 * `found` at `path`, knows that nobody else can remove it. A claim whose own holder has died is removed in
 * the same way.
 */
async function removeDead(path: string, found: Buffer, self: DataFolderHolder): Promise<void> {
  const claim = join(dirname(path), `.${LOCK_NAME}-claim-${contentName(path, found)}`);
  if (!(await createWhole(claim, self))) {
    const other = await readIfThere(claim);
    if (!other) return;
    const claimant = decodeHolder(other);
    if (claimant && isAlive(claimant)) await delay(WAIT_MS);
    else await removeDead(claim, other, self);
    return;
  }
  try {
    if ((await readIfThere(path))?.equals(found)) await unlinkIfThere(path);
  } finally {
    await unlinkIfThere(claim);
  }
}

const contentName = (path: string, content: Buffer) =>
  createHash('sha256')
    .update(`${basename(path)}\n`)
    .update(content)
    .digest('hex')
    .slice(0, 32);

/** Contenders that were killed leave temporary files and claims; those of living ones stay. */
async function removeLeftovers(dataDir: string, self: DataFolderHolder): Promise<void> {
  for (const name of await readdir(dataDir)) {
    const path = join(dataDir, name);
    const tempOf = TEMP_NAME.exec(name)?.[1];
    if (tempOf && !isPidInUse(Number(tempOf))) await unlinkIfThere(path);
    if (!CLAIM_NAME.test(name)) continue;
    const found = await readIfThere(path);
    const claimant = found && decodeHolder(found);
    if (found && !(claimant && isAlive(claimant))) await removeDead(path, found, self);
  }
}

/**
 * A lock is created whole, so a broken one is damage from outside. Only a file from before this boot is
 * certain to have no living holder. A minute of slack, as clocks are set after boot.
 */
async function olderThanThisBoot(path: string): Promise<boolean> {
  const bootedAtMs = Date.now() - uptime() * 1_000;
  try {
    return (await stat(path)).mtimeMs < bootedAtMs - 60_000;
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return false;
    throw error;
  }
}

async function readHolder(path: string): Promise<DataFolderHolder | undefined> {
  const found = await readIfThere(path);
  return found && decodeHolder(found);
}

async function readIfThere(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path);
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

async function unlinkIfThere(path: string): Promise<void> {
  try {
    await unlink(path);
  } catch (error) {
    if (systemErrorCode(error) !== 'ENOENT') throw error;
  }
}
