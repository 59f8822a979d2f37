import { opendir } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { type FolderContent, receiptIdOfName } from './read-folder.ts';

/** The first receipt by name that the index has no line for. All ids are kept: only for when it is known to exist. */
export async function firstUnindexed(folder: string, { index }: FolderContent): Promise<string | undefined> {
  const indexed = new Set<string>();
  if (index !== undefined) {
    const input = index.handle.createReadStream({ start: 0, autoClose: false });
    for await (const line of createInterface({ input })) indexed.add(receiptIdOfLine(line));
  }
  let first: string | undefined;
  for await (const { name } of await opendir(folder, { bufferSize: 512 })) {
    const receiptId = receiptIdOfName(name);
    if (receiptId !== undefined && !indexed.has(receiptId) && (first === undefined || receiptId < first))
      first = receiptId;
  }
  return first;
}

function receiptIdOfLine(line: string): string {
  const parsed: { receipt_id: string } = JSON.parse(line);
  return parsed.receipt_id;
}
