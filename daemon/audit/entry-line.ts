import { AuditEntry } from '../contract/audit-log.ts';
import { canonicalJson } from '../lib/canonical-json.ts';

/** A line of audit.jsonl, with its line feed. */
export function lineOf(entry: AuditEntry): string {
  return `${canonicalJson(entry)}\n`;
}

/** The entry that a line holds; undefined where it holds none. */
export function parseEntry(line: string): AuditEntry | undefined {
  try {
    return AuditEntry.safeParse(JSON.parse(line)).data;
  } catch {
    // It is not even JSON.
    return undefined;
  }
}

export function seqOf(line: string): number | undefined {
  return parseEntry(line)?.seq;
}
