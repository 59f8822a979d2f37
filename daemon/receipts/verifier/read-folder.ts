import { isUtf8 } from 'node:buffer';
import { constants } from 'node:fs';
import { type FileHandle, open, opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { receiptIdPattern } from './index-line.ts';

/** What stands in a receipts folder at one moment; what is written to it later is not looked at. */
export interface FolderContent {
  /** Undefined where there is none. The caller closes it. */
  readonly index: { readonly handle: FileHandle; readonly size: number } | undefined;
  /** Undefined where there is none. */
  readonly checkpoint: string | undefined;
  /** Names of receipts. */
  readonly receiptCount: number;
  /** First by name of the entries that do not belong here. */
  readonly stray: string | undefined;
}

/** INDEX.jsonl or CHECKPOINT is there, but can't be what the daemon wrote. */
export class UnfitFileError extends Error {
  readonly field: 'index' | 'checkpoint';
  constructor(field: 'index' | 'checkpoint', message: string) {
    super(message);
    this.field = field;
  }
}

const indexName = 'INDEX.jsonl';
const checkpointName = 'CHECKPOINT';
const maxCheckpointBytes = 64 * 1024;
const temporary = /^\.durable-[0-9a-f]{32}\.tmp$/;
const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * Opens the index, reads CHECKPOINT and goes over the names, a few hundred at a time and without keeping them.
 *
 * @throws UnfitFileError; the system's error where the folder can't be read
 */
export async function readFolder(folder: string): Promise<FolderContent> {
  const names = await surveyNames(folder);
  const checkpoint = await readCheckpoint(join(folder, checkpointName));
  return { ...names, checkpoint, index: await openPlain(join(folder, indexName), 'index') };
}

/** The id of a receipt by its file's name; undefined for any other name. */
export function receiptIdOfName(name: string): string | undefined {
  const receiptId = name.endsWith('.json') ? name.slice(0, -'.json'.length) : '';
  return receiptIdPattern.test(receiptId) ? receiptId : undefined;
}

async function surveyNames(folder: string): Promise<Pick<FolderContent, 'receiptCount' | 'stray'>> {
  let receiptCount = 0;
  let stray: string | undefined;
  for await (const { name } of await opendir(folder, { bufferSize: 512 })) {
    if (receiptIdOfName(name) !== undefined) receiptCount += 1;
    else if (name !== indexName && name !== checkpointName && !temporary.test(name))
      if (stray === undefined || name < stray) stray = name;
  }
  return { receiptCount, stray };
}

async function readCheckpoint(path: string): Promise<string | undefined> {
  const file = await openPlain(path, 'checkpoint');
  if (file === undefined) return undefined;
  try {
    if (file.size > maxCheckpointBytes) throw new UnfitFileError('checkpoint', 'CHECKPOINT is over 64 KiB.');
    const bytes = await file.handle.readFile();
    if (!isUtf8(bytes)) throw new UnfitFileError('checkpoint', 'CHECKPOINT is not UTF-8.');
    return bytes.toString();
  } finally {
    await file.handle.close();
  }
}

async function openPlain(
  path: string,
  field: 'index' | 'checkpoint',
): Promise<{ handle: FileHandle; size: number } | undefined> {
  let handle: FileHandle;
  try {
    handle = await open(path, flags);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw new UnfitFileError(field, `${path} can not be opened, or is a link: ${error}`);
  }
  const stats = await handle.stat();
  if (stats.isFile() && stats.nlink === 1) return { handle, size: stats.size };
  await handle.close();
  throw new UnfitFileError(field, `${path} is not a regular file with one name.`);
}
