const blank = /^[ \t\r\n]+/;

export interface ConfigLine {
  /** Lowercase. */
  readonly keyword: string;
  /** What stands behind the keyword, as it is written. */
  readonly rest: string;
  /** `rest` without quotes, escapes and comment; null where a quote is not closed. */
  readonly words: readonly string[] | null;
}

/** A line of ssh_config(5) as OpenSSH 8.7 and later reads it; null where there is nothing on it but a comment. */
export function readLine(text: string): ConfigLine | null {
  const cursor = { text: (text.split('\0', 1)[0] ?? '').replace(/[ \t\r\n\f]+$/, '') };
  let keyword = nextWord(cursor);
  if (keyword === '') keyword = nextWord(cursor);
  if (keyword === null || keyword === '' || keyword.startsWith('#')) return null;
  const rest = (cursor.text ?? '').replace(blank, '');
  return { keyword: lowercase(keyword), rest, words: splitWords(rest) };
}

/** ASCII only, as the C locale has it. */
export function lowercase(text: string): string {
  return text.replace(/[A-Z]+/g, (capitals) => capitals.toLowerCase());
}

/**
 * The word at the cursor, which moves behind it: up to white space or one `=`, or in double quotes; null where there is
 * none, or a quote is not closed.
 */
export function nextWord(cursor: { text: string | null }): string | null {
  const { text } = cursor;
  if (text === null) return null;
  const end = text.search(/[ \t\r\n"=]/);
  if (end === -1) {
    cursor.text = null;
    return text;
  }
  if (text[end] === '"') return quotedWord(cursor, text, end);
  let after = text.slice(end + 1).replace(blank, '');
  if (text[end] !== '=' && after.startsWith('=')) after = after.slice(1).replace(blank, '');
  cursor.text = after;
  return text.slice(0, end);
}

function quotedWord(cursor: { text: string | null }, text: string, start: number): string | null {
  const end = text.indexOf('"', start + 1);
  if (end === -1) {
    cursor.text = null;
    return null;
  }
  cursor.text = text.slice(end + 1).replace(blank, '');
  return text.slice(0, start) + text.slice(start + 1, end);
}

function splitWords(text: string): string[] | null {
  const words: string[] = [];
  let at = 0;
  while (at < text.length) {
    const character = text[at];
    if (character === ' ' || character === '\t') {
      at++;
      continue;
    }
    if (character === '#') break;
    const word = readWord(text, at);
    if (word === null) return null;
    words.push(word.value);
    at = word.end;
  }
  return words;
}

function readWord(text: string, start: number): { value: string; end: number } | null {
  let value = '';
  let quote = '';
  let at = start;
  for (; at < text.length; at++) {
    const character = text[at] ?? '';
    const next = text[at + 1] ?? '';
    if (character === '\\' && (/['"\\]/.test(next) || (next === ' ' && quote === ''))) {
      value += next;
      at++;
    } else if (quote === '' && (character === ' ' || character === '\t')) break;
    else if (quote === '' && (character === '"' || character === "'")) quote = character;
    else if (quote !== '' && character === quote) quote = '';
    else value += character;
  }
  return quote === '' ? { value, end: at } : null;
}
