import { expect, test } from 'vitest';
import type { AuditEntry } from '../../daemon/contract/audit-log.ts';
import { auditDeed } from './audit-words.ts';

const names = new Map([['key_1', 'Release bot']]);

test('names the secrets that were used, and counts those that are too many', () => {
  expect(auditDeed(entry({ event: 'secret.reveal', names: ['A'] }), names)).toEqual({
    verb: 'revealed',
    objects: ['A'],
    more: 0,
    after: '',
  });
  const many = entry({ event: 'secret.import', names: ['A', 'B', 'C', 'D', 'E', 'F'] });
  expect(auditDeed(many, names)).toEqual({
    verb: 'set',
    objects: ['A', 'B', 'C', 'D'],
    more: 2,
    after: 'from a .env',
  });
});

test('an API key is told by its name, a forgotten one and the master key by their ids', () => {
  const deed = (event: AuditEntry['event'], key_id: string) =>
    auditDeed(entry({ event, key_id }), names).objects;
  expect(deed('api_key.revoke', 'key_1')).toEqual(['Release bot']);
  expect(deed('api_key.create', 'key_2')).toEqual(['key_2']);
  expect(deed('master_key.rotate', 'mk_0123456789abcdef')).toEqual(['mk_0123456789abcdef']);
});

test('an event of a later daemon is shown as it is', () => {
  const later = entry({ event: 'mail.send' as AuditEntry['event'] });
  expect(auditDeed(later, names)).toEqual({ verb: 'mail.send', objects: [], more: 0, after: '' });
});

function entry(told: Pick<AuditEntry, 'event' | 'names' | 'key_id'>): AuditEntry {
  const actor = { type: 'session', session_id: 'ses_1' } as AuditEntry['actor'];
  return { seq: 1, timestamp: '2026-03-01T12:00:00.000Z', actor, ...told };
}
