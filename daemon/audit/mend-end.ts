import { parseEntry } from './entry-line.ts';
import { endOfWholeLines } from './read-lines.ts';
import type { AuditFile } from './store.ts';

/**
 * Makes the file end with a whole line. What a crash cut short was never answered for: it is cut off. An entry that only
 * lacks its line feed is one, and gets it. Either is reported.
 *
 * @throws StorageFullError, StorageFailedError
 */
export async function mendEnd(file: AuditFile, onNotice: (message: string) => void): Promise<void> {
  const end = await endOfWholeLines(file);
  const cut = file.bytes - end;
  if (cut === 0) return;
  if (parseEntry((await file.read(end, file.bytes)).toString('utf8')) !== undefined) {
    await file.append(Buffer.from('\n'));
    onNotice('The last line of audit.jsonl had no line feed. It was added.');
  } else {
    await file.cutAt(end);
    onNotice(`The last ${cut} bytes of audit.jsonl were half an entry, left by a crash. They were cut off.`);
  }
}
