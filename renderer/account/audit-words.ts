import type { AuditEntry, AuditEvent } from '../../daemon/contract/audit-log.ts';

/** An entry as the parts of a sentence: "set" `API_TOKEN` "from a .env". */
export type AuditDeed = { verb: string; objects: string[]; more: number; after: string };

/** How many names a sentence holds. */
const maxNamed = 4;

export function auditDeed(entry: AuditEntry, keyNames: ReadonlyMap<string, string>): AuditDeed {
  const objects = objectsOf(entry, keyNames);
  const named = objects.slice(0, maxNamed);
  const after = entry.event === 'secret.import' ? 'from a .env' : '';
  return {
    verb: verbs[entry.event] ?? entry.event,
    objects: named,
    more: objects.length - named.length,
    after,
  };
}

function objectsOf({ event, names, key_id: keyId }: AuditEntry, keyNames: ReadonlyMap<string, string>) {
  if (names !== undefined && names.length > 0) return names;
  if (keyId === undefined) return [];
  return [event.startsWith('api_key.') ? (keyNames.get(keyId) ?? keyId) : keyId];
}

const verbs: Record<AuditEvent, string> = {
  'secret.set': 'set',
  'secret.reveal': 'revealed',
  'secret.delete': 'deleted',
  'secret.import': 'set',
  'secret.recover': 'recovered the secrets',
  'master_key.create': 'made the master key',
  'master_key.rotate': 'rotated the master key',
  'master_key.export': 'exported the master key',
  'master_key.import': 'imported the master key',
  'api_key.create': 'created the API key',
  'api_key.revoke': 'revoked the API key',
};
