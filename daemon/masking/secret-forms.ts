import { minMaskedCharacters } from '../contract/secrets.ts';
import { base64Forms, hexForms, wrappedForms } from './byte-forms.ts';
import { escapedForms } from './escaped-forms.ts';
import { minPatternBytes } from './pattern-filter.ts';
import { urlForms } from './url-forms.ts';

/**
 * A longer text is looked for in segments of this many characters, each of which overlaps the next: patterns stay short
 * however long the value, a value that is printed whole is one run all the same, and so is what was printed of it when
 * its end was cut off. The overlap is wide enough that the base64 forms of two segments overlap too.
 */
const segmentCharacters = 64;
const overlapCharacters = 4;

/**
 * The byte patterns that give a secret away: its value as it is and line by line, and as the usual tools encode and quote
 * it. Unique, each 6 bytes or longer and at most 1 KiB; none for a value under 6 characters (code points). Those of a long
 * value of random printable ASCII have up to 50 times its bytes, of any text up to 200 times; of letters and digits, a
 * dozen times.
 */
export function formsOf(value: string): Buffer[] {
  if (isShort(value)) return [];
  const patterns = new Set<string>();
  // Line breaks at the ends are not masked, or the text after them would move into the secret's line.
  const text = longEnough(value.replace(/^[\r\n]+|[\r\n]+$/g, ''), value);
  const trimmed = longEnough(value.trim(), text);
  for (const source of new Set([text, trimmed])) addTextForms(patterns, source);
  for (const source of new Set([value, text, trimmed])) addByteForms(patterns, source);
  for (const line of linesOf(value)) addTextForms(patterns, line);
  return [...patterns]
    .map((pattern) => Buffer.from(pattern))
    .filter(({ length }) => length >= minPatternBytes);
}

function addTextForms(patterns: Set<string>, text: string): void {
  for (const segment of segmentsOf(text)) {
    addAll(patterns, escapedForms(segment));
    addAll(patterns, urlForms(segment));
  }
}

function addByteForms(patterns: Set<string>, text: string): void {
  addAll(patterns, wrappedForms(Buffer.from(text)));
  for (const segment of segmentsOf(text)) {
    const bytes = Buffer.from(segment);
    addAll(patterns, base64Forms(bytes));
    addAll(patterns, hexForms(bytes));
  }
}

/** The lines of a value, without white space at their ends, that are long enough to be masked alone. */
function linesOf(value: string): string[] {
  return value
    .split(/[\r\n]+/)
    .map((line) => line.trim())
    .filter((line) => !isShort(line));
}

/** The text itself unless it is long. The last segment is as long as the others. */
function segmentsOf(text: string): string[] {
  if (text.length <= segmentCharacters) return [text];
  const characters = Array.from(text);
  const lastStart = Math.max(0, characters.length - segmentCharacters);
  const segments: string[] = [];
  for (let start = 0; start < lastStart; start += segmentCharacters - overlapCharacters)
    segments.push(characters.slice(start, start + segmentCharacters).join(''));
  segments.push(characters.slice(lastStart).join(''));
  return segments;
}

function longEnough(text: string, otherwise: string): string {
  return isShort(text) ? otherwise : text;
}

function isShort(text: string): boolean {
  if (text.length >= 2 * minMaskedCharacters) return false;
  return Array.from(text).length < minMaskedCharacters;
}

function addAll(patterns: Set<string>, forms: Iterable<string>): void {
  for (const form of forms) patterns.add(form);
}
