import { isUtf8 } from 'node:buffer';
import { canonicalJson } from '../../lib/canonical-json.ts';
import { fieldDigest } from '../receipt-format.ts';
import type { IndexLine } from './index-line.ts';

export interface NamedFault {
  readonly field: string;
  readonly detail: string;
}

/**
 * What of a receipt differs from its index line: the first field, in canonical order, that is not what its digest says,
 * or that is gone; then one that was added; the value of self_hash last. Undefined where every field is as the index has it.
 */
export function nameFault(bytes: Buffer, line: IndexLine): NamedFault | undefined {
  const value = parseObject(bytes);
  if (value === undefined) return nameBrokenField(bytes, line);
  if (hasDuplicateName(bytes.toString()))
    return { field: 'duplicate_key', detail: 'A name occurs twice in one object.' };
  const expected = Object.keys(line.fields).sort();
  const found = Object.keys(value).sort();
  const order = [
    ...expected.filter((name) => name !== 'self_hash'),
    ...(Object.hasOwn(value, 'self_hash') ? [] : ['self_hash']),
    ...found.filter((name) => !Object.hasOwn(line.fields, name) && name !== 'self_hash'),
    'self_hash',
  ];
  for (const name of order) {
    if (!Object.hasOwn(value, name)) return { field: name, detail: `The field ${name} is gone.` };
    if (!Object.hasOwn(line.fields, name)) return { field: name, detail: `The field ${name} was added.` };
    if (digestOf(value[name]) !== line.fields[name])
      return { field: name, detail: `The value of ${name} is not what the index has a digest of.` };
  }
  return undefined;
}

/** What can't be read as JSON is compared piece by piece: each field's bytes reach to the name of the next field. */
function nameBrokenField(bytes: Buffer, line: IndexLine): NamedFault {
  const names = Object.keys(line.fields).sort();
  let start = 0;
  let pending: string | undefined;
  for (const [at, name] of names.entries()) {
    const marker = `${at === 0 ? '{' : ','}${canonicalJson(name)}:`;
    const found = bytes.indexOf(marker, start);
    if (found < 0) return { field: name, detail: `Not JSON: the name ${name} is broken.` };
    if (pending !== undefined && fieldDigest(bytes.subarray(start, found)) !== line.fields[pending])
      return { field: pending, detail: `Not JSON: the bytes of ${pending} are broken.` };
    pending = name;
    start = found + Buffer.byteLength(marker);
  }
  const last = bytes.subarray(start, Math.max(start, bytes.length - 2));
  if (pending !== undefined && fieldDigest(last) !== line.fields[pending])
    return { field: pending, detail: `Not JSON: the bytes of ${pending} are broken.` };
  return { field: 'canonical_form', detail: 'Not one JSON object and a line feed.' };
}

function digestOf(value: unknown): string | undefined {
  try {
    return fieldDigest(canonicalJson(value));
  } catch {
    // A lone surrogate or a number beyond the doubles: it has no canonical form, so no digest fits.
    return undefined;
  }
}

function parseObject(bytes: Buffer): Readonly<Record<string, unknown>> | undefined {
  if (!isUtf8(bytes)) return undefined;
  try {
    const value: unknown = JSON.parse(bytes.toString());
    return isObject(value) ? value : undefined;
  } catch {
    // Not JSON: the caller compares bytes.
    return undefined;
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** `text` is valid JSON, so its tokens alone tell: a string before a colon is a name. */
function hasDuplicateName(text: string): boolean {
  const open: Set<string>[] = [];
  for (const [token, colon] of text.matchAll(/"(?:[^"\\]|\\.)*"(\s*:)?|[{}]/g)) {
    if (token === '{') open.push(new Set());
    else if (token === '}') open.pop();
    else if (colon !== undefined) {
      const name: string = JSON.parse(token.slice(0, token.length - colon.length));
      const names = open.at(-1);
      if (names?.has(name)) return true;
      names?.add(name);
    }
  }
  return false;
}
