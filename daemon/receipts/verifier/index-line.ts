import { CanonicalScanner } from './canonical-scanner.ts';

/** A line of INDEX.jsonl. */
export interface IndexLine {
  readonly action: string;
  /** First 16 hexadecimal digits of the SHA-256 of each field's canonical form. */
  readonly fields: Readonly<Record<string, string>>;
  readonly prev_receipt_hash: string;
  readonly receipt_id: string;
  readonly run_id: string;
  readonly self_hash: string;
  readonly seq: number;
  readonly timestamp: string;
}

/** A longer line is garbage: a real one has some 900 bytes. */
export const maxIndexLineBytes = 1024 * 1024;

export const receiptIdPattern = /^rcpt_\d{8}_(\d{8})[0-9a-f]{4}$/;
const hashPattern = /^sha256:[0-9a-f]{64}$/;
const names = 'action,fields,prev_receipt_hash,receipt_id,run_id,self_hash,seq,timestamp';

/** `line` with its LF. Undefined where it is not, to the byte, what the format says. */
export function parseIndexLine(line: Buffer): IndexLine | undefined {
  if (line.length > maxIndexLineBytes || !new CanonicalScanner().scan(line, line.length)) return undefined;
  const parsed: unknown = JSON.parse(line.toString());
  return isIndexLine(parsed) ? parsed : undefined;
}

function isIndexLine(value: unknown): value is IndexLine {
  if (typeof value !== 'object' || value === null || Object.keys(value).join() !== names) return false;
  const line = value as Record<keyof IndexLine, unknown>;
  return (
    typeof line.action === 'string' &&
    isDigests(line.fields) &&
    matches(line.prev_receipt_hash, hashPattern) &&
    matches(line.receipt_id, receiptIdPattern) &&
    typeof line.run_id === 'string' &&
    matches(line.self_hash, hashPattern) &&
    Number.isInteger(line.seq) &&
    typeof line.timestamp === 'string'
  );
}

function isDigests(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return Object.values(value).every((digest) => matches(digest, /^[0-9a-f]{16}$/));
}

function matches(value: unknown, pattern: RegExp): boolean {
  return typeof value === 'string' && pattern.test(value);
}
