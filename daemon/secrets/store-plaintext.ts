import type { WorkspaceId } from '../contract/ids.ts';
import { isStoredSecretName, whyNotSecretValue } from '../contract/secrets.ts';
import { canonicalJson } from '../lib/canonical-json.ts';

export interface StoredSecret {
  readonly value: string;
  /** ISO 8601, UTC, milliseconds, `Z`. */
  readonly updated_at: string;
}

/** What `secrets.enc` holds beside its version and its workspace. */
export interface StoreContents {
  /** From 1, and one more with every change, so that an old file put back is seen. */
  readonly generation: number;
  /** By name, in any order. */
  readonly secrets: ReadonlyMap<string, StoredSecret>;
}

export type StoreFault = 'wrong_key_or_altered' | 'other_workspace' | 'unreadable';

/** A store that can't be opened. The message is a sentence for the user and holds nothing of the store. */
export class StoreFormatError extends Error {
  override readonly name = 'StoreFormatError';
  /**
   * `wrong_key_or_altered`: it is no token of this key, to the byte; `other_workspace`: it was sealed with this key for
   * another workspace; `unreadable`: it was sealed with this key, but is not what docs/secrets.md describes.
   */
  readonly reason: StoreFault;

  constructor(reason: StoreFault, message: string) {
    super(message);
    this.reason = reason;
  }
}

/**
 * The canonical JSON that a store's token holds.
 *
 * @throws RangeError for what `readPlaintext` would refuse
 */
export function writePlaintext(wsId: WorkspaceId, { generation, secrets }: StoreContents): string {
  if (!Number.isSafeInteger(generation) || generation < 1)
    throw new RangeError('a generation is a whole number from 1');
  const sorted = [...secrets].sort(([a], [b]) => (a < b ? -1 : 1));
  const members = sorted.map(([name, { updated_at, value }]) => {
    const fault = whyNotStored(name, value, updated_at);
    if (fault !== undefined) throw new RangeError(fault);
    // Names and times have nothing in them that would be escaped.
    return `"${name}":{"updated_at":"${updated_at}","value":${canonicalJson(value)}}`;
  });
  return `{"generation":${generation},"secrets":{${members.join(',')}},"version":1,"ws_id":"${wsId}"}`;
}

/**
 * Reads the canonical form and nothing else. As it has one spelling, it is read along that spelling: quicker than to
 * parse any JSON and to see whether it would be written the same again.
 *
 * @throws StoreFormatError
 */
export function readPlaintext(wsId: WorkspaceId, text: string): StoreContents {
  const tailAt = checkTail(wsId, text);
  const head = headForm.exec(text);
  const generation = Number(head?.[1]);
  if (head === null || !Number.isSafeInteger(generation)) throw unreadable('It does not begin as a store.');
  return { generation, secrets: readSecrets(text, head[0].length, tailAt) };
}

const headForm = /^\{"generation":([1-9]\d{0,15}),"secrets":\{/;
const tailForm = /\},"version":(\d+),"ws_id":"([^"\\]*)"\}$/y;
/** Up to the end of a value that has no escape, or else to its first. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what JSON does not take as they are.
const secretForm = /"([^"\\]+)":\{"updated_at":"([^"\\]+)","value":"([^"\\\u0000-\u001f]*)("?)/y;

/** Where the tail begins. Its quotes can't be those of a value, which have a backslash. */
function checkTail(wsId: WorkspaceId, text: string): number {
  tailForm.lastIndex = text.lastIndexOf('},"version":');
  const tail = tailForm.exec(text);
  if (tail === null) throw unreadable('It does not end as a store.');
  if (tail[1] !== '1')
    throw unreadable('It has another version than 1: another version of Tallystick may have made it.');
  if (tail[2] !== wsId)
    throw new StoreFormatError('other_workspace', 'These are the secrets of another workspace.');
  return tail.index;
}

/** The members of `secrets`, which fill the text from `start` to `end`. */
function readSecrets(text: string, start: number, end: number): Map<string, StoredSecret> {
  const secrets = new Map<string, StoredSecret>();
  let nameBefore = '';
  for (let at = start; at !== end; ) {
    if (at !== start && text[at++] !== ',') throw unreadable('A secret does not end as it should.');
    secretForm.lastIndex = at;
    const begin = secretForm.exec(text);
    if (begin === null) throw unreadable('A secret does not begin as it should.');
    const { 1: name = '', 2: updatedAt = '', 3: plain = '', 4: quote } = begin;
    if (name <= nameBefore) throw unreadable('A name is not in its place.');
    nameBefore = name;
    at = quote === '"' ? secretForm.lastIndex : closingQuote(text, secretForm.lastIndex) + 1;
    const value = quote === '"' ? plain : unescaped(text.slice(secretForm.lastIndex - plain.length - 1, at));
    const fault = whyNotStored(name, value, updatedAt);
    if (fault !== undefined) throw unreadable(fault);
    secrets.set(name, { value, updated_at: updatedAt });
    if (text[at++] !== '}') throw unreadable('A secret does not end as it should.');
  }
  return secrets;
}

/** The first quote from `from` on that no backslash escapes. */
function closingQuote(text: string, from: number): number {
  for (let at = text.indexOf('"', from); at !== -1; at = text.indexOf('"', at + 1)) {
    let first = at;
    while (text[first - 1] === '\\') first -= 1;
    if ((at - first) % 2 === 0) return at;
  }
  throw unreadable('A value does not end.');
}

/** The string that `written` is, quotes and all. */
function unescaped(written: string): string {
  const value = parsedString(written);
  if (!value.isWellFormed() || canonicalJson(value) !== written)
    throw unreadable('A value is not in its canonical form.');
  return value;
}

function parsedString(quoted: string): string {
  try {
    return String(JSON.parse(quoted));
  } catch {
    // What the parser says quotes the value.
    throw unreadable('A value is no JSON string.');
  }
}

function whyNotStored(name: string, value: string, updatedAt: string): string | undefined {
  if (!isStoredSecretName(name)) return 'A name can not be a secret’s.';
  if (whyNotSecretValue(value) !== undefined) return 'A value can not be a secret’s.';
  if (!isTimestamp(updatedAt)) return 'A time is not one.';
  return undefined;
}

const timestampForm = /^\d{4}-(?:0[1-9]|1[0-2])-(?:[0-2]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/;

/** ISO 8601, UTC, milliseconds, `Z`. */
function isTimestamp(text: string): boolean {
  if (!timestampForm.test(text)) return false;
  const day = text.slice(8, 10);
  if (day >= '01' && day <= '28') return true;
  // The 31st of February is read as a day of March. It takes a while to ask, so it is asked of few.
  return new Date(text).getUTCDate() === Number(day);
}

function unreadable(detail: string): StoreFormatError {
  return new StoreFormatError('unreadable', `The secrets were decrypted, but can not be read. ${detail}`);
}
