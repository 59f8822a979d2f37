import { constants, type Stats } from 'node:fs';
import { access, type FileHandle, lstat, open, readdir, readFile, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import * as z from 'zod';
import { Timestamp, WorkspaceId } from '../contract/ids.ts';
import { MasterKeyId } from '../contract/master-key.ts';
import { systemErrorCode } from '../lib/durable-errors.ts';
import { syncFolderOf, writeDurably } from '../lib/durable-file.ts';
import { readMasterKey } from './key-format.ts';
import type { KeyPlace, KeySlot } from './key-place.ts';

/** What the state file remembers of the master key: ids, never a key. */
export const MasterKeyRecord = z.object({
  /** The check value: of the key that stores are made with. Null before the first. */
  key_id: MasterKeyId.nullable(),
  /** One that is under way, or was cut short. `to` seals from when this is durable; stores may still need `from`. */
  rotation: z.object({ from: MasterKeyId, to: MasterKeyId, started_at: Timestamp }).nullable(),
  /** Keys that are kept for the stores of workspaces that a rotation could not reach. */
  retired: z
    .array(z.object({ key_id: MasterKeyId, retired_at: Timestamp, ws_ids: z.array(WorkspaceId).readonly() }))
    .readonly(),
});
export type MasterKeyRecord = z.infer<typeof MasterKeyRecord>;

/** Of a data folder whose secrets were never used. */
export const noMasterKeyRecord: MasterKeyRecord = { key_id: null, rotation: null, retired: [] };

/** A key file that is there and is not trusted, or can't be read. The message says why, and what to do. */
export class KeyFileError extends Error {
  override readonly name = 'KeyFileError';
}

/**
 * Keys in files: `path`, `path.next`, `path.mk_…`. Written durably with mode 0600. `name` begins the sentences of errors.
 *
 * `read` fails with `KeyFileError`; the others with `StorageFullError` or `StorageFailedError`.
 */
export function keyFiles(
  path: string,
  name: string,
): KeyPlace & { readonly isWritable: () => Promise<boolean> } {
  const pathOf = (slot: KeySlot) => (slot === 'current' ? path : `${path}.${slot}`);
  return {
    source: 'file',
    read: (slot) => readKeyFile(pathOf(slot), name),
    write: (slot, text) => writeDurably(pathOf(slot), `${text}\n`),
    remove: async (slot) => {
      await removeDurably(pathOf(slot));
      await removeLeftKeys(dirname(path));
    },
    // A file shows by itself whether it is there.
    prove: async () => undefined,
    isWritable: () => isWritable(dirname(path)),
  };
}

const maxKeyFileBytes = 4096;

async function readKeyFile(path: string, name: string): Promise<string | null> {
  let file: FileHandle;
  try {
    // Without O_NONBLOCK the open of a pipe would wait for its writer. Windows has no such flag.
    file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    const code = systemErrorCode(error);
    // Where a parent is a file there is no key either.
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    throw new KeyFileError(`${name} can not be opened (${code}). Let the service read it.`, { cause: error });
  }
  try {
    const distrust = whyNotTrusted(await file.stat());
    if (distrust !== undefined) throw new KeyFileError(`${name} ${distrust}`);
    return (await file.readFile('utf8')).trim();
  } finally {
    await file.close();
  }
}

function whyNotTrusted(file: Stats): string | undefined {
  if (!file.isFile()) return 'is not a regular file.';
  if (file.size > maxKeyFileBytes) return 'is too large for a key.';
  if (process.platform === 'win32') return undefined;
  if (file.uid !== 0 && file.uid !== process.geteuid?.())
    return "belongs to another user, who can read and change it. Make it root's, or the user's who runs the service.";
  if ((file.mode & 0o077) !== 0) return 'is open to others than its owner. Set its mode to 600.';
  return undefined;
}

async function removeDurably(path: string): Promise<void> {
  try {
    await unlink(path);
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return;
    throw error;
  }
  await syncFolderOf(path);
}

/**
 * Removes the temporary files with a key in them that crashes have left. The folder may hold those of others, which are
 * being written just now: a key is ours.
 */
async function removeLeftKeys(folder: string): Promise<void> {
  for (const name of (await readdir(folder)).filter((name) => /^\.durable-.*\.tmp$/.test(name))) {
    const path = join(folder, name);
    const { size } = await lstat(path);
    if (size <= maxKeyFileBytes && readMasterKey(await readFile(path, 'utf8')) !== undefined)
      await removeDurably(path);
  }
}

async function isWritable(folder: string): Promise<boolean> {
  try {
    await access(folder, constants.W_OK);
    return true;
  } catch {
    // Whatever the reason: no key can be put there.
    return false;
  }
}
