import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AuditRecord } from '../../contract/audit-log.ts';
import { KeyId, WorkspaceId } from '../../contract/ids.ts';
import type { StorageFailedError } from '../../lib/durable-errors.ts';
import { tempFolder } from '../../lib/testing/temp-folder.ts';
import { testClock } from '../../testing/test-clock.ts';
import { AuditLog } from '../audit-log.ts';
import type { OpenAuditHandle } from '../store.ts';

export const revealed = (name: string): AuditRecord => ({
  event: 'secret.reveal',
  actor: { type: 'key', key_id: KeyId.parse('key_0123456789abcdef') },
  ws_id: WorkspaceId.parse('ws_0123456789abcdef'),
  names: [name],
});

/** A data folder for audit logs, one after the other; what they report is kept. */
export async function auditFolder() {
  const folder = await tempFolder();
  const path = join(folder.path, 'audit.jsonl');
  const notices: string[] = [];
  const fatal: StorageFailedError[] = [];
  const time = testClock();
  return {
    path,
    notices,
    fatal,
    time,
    open: (openHandle?: OpenAuditHandle) =>
      AuditLog.open({
        dataDir: folder.path,
        clock: time.clock,
        onNotice: (message) => notices.push(message),
        onFatal: (error) => fatal.push(error),
        ...(openHandle === undefined ? {} : { openHandle }),
      }),
    text: () => readFileSync(path, 'utf8'),
    lines: () => readFileSync(path, 'utf8').split('\n').slice(0, -1),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}
