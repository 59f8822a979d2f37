import { existsSync, readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PathChangedError } from '../lib/confined-folder.ts';
import { writeInside } from '../lib/confined-fs.ts';
import { statInside } from '../lib/confined-reads.ts';
import { hashContent } from '../lib/content-hash.ts';
import { systemErrorCode } from '../lib/durable-errors.ts';
import { syncFolderOf, writeDurably } from '../lib/durable-file.ts';
import { makeFolderDurably } from '../lib/durable-folder.ts';
import type { EntryStat } from '../lib/entry-stat.ts';
import { type FoundEntry, readEntry } from '../lib/read-entry.ts';
import type { Step } from '../mutations/mutation-plan.ts';

/** Byte path of the store in the workspace. */
export const storePath = '.service/secrets.enc';

export interface StoreFile {
  readonly entry: FoundEntry;
  readonly token: string;
}

/** What is at the store's place: a file, nothing, or something that is no store and says why. */
export type StorePlace = StoreFile | 'absent' | { readonly fault: string };

/** @throws the system's error where it may not be read */
export function readStoreFile(root: string): StorePlace {
  try {
    const stat = statInside(root, storePath);
    if (stat === null) return 'absent';
    if (stat.kind !== 'file') return { fault: `${storePath} is no file.` };
    const entry = readEntry(root, storePath);
    if (entry?.bytes == null) return { fault: `${storePath} is too large to be a store.` };
    return { entry, token: entry.bytes.toString('latin1') };
  } catch (error) {
    if (error instanceof PathChangedError) return { fault: '.service is a link; it must be a folder.' };
    throw error;
  }
}

/** Null where there is nothing. @throws the system's error where it may not be looked at */
export function statStoreFile(root: string): EntryStat | null {
  try {
    return statInside(root, storePath);
  } catch (error) {
    // A link is on the way: who reads it says so.
    if (error instanceof PathChangedError) return null;
    throw error;
  }
}

/** The step that puts a token in the place of what was found there. */
export function storeStep(found: FoundEntry | null, token: string): Step {
  const content = Buffer.from(token, 'latin1');
  return {
    kind: 'write',
    path: storePath,
    before: found?.state ?? null,
    beforeBytes: found?.bytes ?? null,
    after: { mode: '100644', size: content.length, ...hashContent(content) },
    content,
    expect: found?.stat ?? 'absent',
  };
}

/** Puts back a store that was removed; nothing where something is there by now. */
export async function restoreStoreFile(root: string, token: string): Promise<void> {
  try {
    writeInside(root, storePath, Buffer.from(token, 'latin1'), { expect: 'absent' });
  } catch (error) {
    if (!(error instanceof PathChangedError)) throw error;
    return;
  }
  await syncFolderOf(join(root, storePath));
}

/** The step that keeps what stands in the store's place under another name. */
export function asideStep({ entry }: StoreFile, nowMs: number): Step & { readonly kind: 'write' } {
  const path = `${storePath}.set-aside-${new Date(nowMs).toISOString().replaceAll(/[:.]/g, '-')}`;
  const content = entry.bytes ?? Buffer.alloc(0);
  return {
    kind: 'write',
    path,
    before: null,
    beforeBytes: null,
    after: entry.state,
    content,
    expect: 'absent',
  };
}

const copyName = 'secrets.enc';

/** The service's own copy of the store, which a command that clears the project does not reach. Null: there is none. */
export async function readCopy(folder: string): Promise<string | null> {
  try {
    return await readFile(join(folder, copyName), 'latin1');
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return null;
    throw error;
  }
}

/** Whether any workspace of the data folder has a copy, one that the state knows nothing of included. */
export function hasAnyCopy(dataDir: string): boolean {
  const folder = join(dataDir, 'workspaces');
  return existsSync(folder) && readdirSync(folder).some((slug) => existsSync(join(folder, slug, copyName)));
}

/** Resolves once durable. @throws StorageFullError, StorageFailedError */
export async function writeCopy(folder: string, token: string): Promise<void> {
  await makeFolderDurably(folder);
  await writeDurably(join(folder, copyName), Buffer.from(token, 'latin1'));
}
