import type { Entry } from './parse-file.ts';

export const publicKeyChoices: ReadonlyMap<string, boolean> = new Map([
  ['yes', true],
  ['true', true],
  ['no', false],
  ['false', false],
  ['unbound', true],
  ['host-bound', true],
]);

export const canonicalizeChoices: ReadonlyMap<string, 'no' | 'yes' | 'always'> = new Map([
  ['yes', 'yes'],
  ['true', 'yes'],
  ['no', 'no'],
  ['false', 'no'],
  ['always', 'always'],
]);

const maxInteger = 2 ** 31 - 1;
const maxFiles = 32;
const seconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 };

/** The one word that a keyword takes. Each of these readers throws an Error that says why ssh would refuse the line. */
export function word(entry: Entry): string {
  const [first, ...more] = words(entry);
  if (first === undefined || first === '') throw new Error('a value is missing');
  if (more.length > 0) throw new Error('there is more than one value');
  return first;
}

/** All that stands behind the keyword, quotes and all. */
export function remainder(entry: Entry): string {
  words(entry);
  if (entry.rest === '') throw new Error('a value is missing');
  return entry.rest.replace(/^[ \t\r\n=]+/, '');
}

/** Several words; `none` only alone. */
export function files(entry: Entry): readonly string[] {
  const all = words(entry);
  if (entry.rest === '' || all.includes('')) throw new Error('a value is missing');
  if (all.length > 1 && all.some((file) => file.toLowerCase() === 'none'))
    throw new Error('none must stand alone');
  if (all.length > maxFiles) throw new Error(`there are more than ${maxFiles} values`);
  return all;
}

export function flag(entry: Entry): boolean {
  const chosen = word(entry).toLowerCase();
  if (chosen === 'yes' || chosen === 'true') return true;
  if (chosen === 'no' || chosen === 'false') return false;
  throw new Error(`${chosen} is neither yes nor no`);
}

export function choice<Value>(entry: Entry, choices: ReadonlyMap<string, Value>): Value {
  const chosen = choices.get(word(entry).toLowerCase());
  if (chosen === undefined) throw new Error(`${word(entry)} is not one of ${[...choices.keys()].join(', ')}`);
  return chosen;
}

export function port(entry: Entry): number {
  return portNumber(word(entry));
}

/** A port by number, or by the one name that makes sense here. */
export function portNumber(text: string): number {
  if (text === 'ssh') return 22;
  const number = /^\d+$/.test(text) ? Number(text) : 0;
  if (number < 1 || number > 65_535) throw new Error(`${text} is not a port`);
  return number;
}

export function integer(entry: Entry): number {
  const text = word(entry);
  if (!/^\d+$/.test(text) || Number(text) > maxInteger) throw new Error(`${text} is not a number`);
  return Number(text);
}

/** TIME FORMATS of sshd_config(5), in seconds; -1 for `none`. */
export function duration(entry: Entry): number {
  const text = word(entry);
  if (text === 'none') return -1;
  let total = 0;
  for (const [part, digits, unit = 's'] of text.matchAll(/(\d+)([smhdw])?|./gis)) {
    const factor = seconds[unit.toLowerCase()];
    if (digits === undefined || factor === undefined) throw new Error(`${part} is not a time`);
    total += Number(digits) * factor;
  }
  if (total > maxInteger) throw new Error(`${text} is too long`);
  return total;
}

export function agent(entry: Entry): string {
  const text = word(entry);
  if (/^\$(?!\{)/.test(text) && !/^\$\w+$/.test(text)) throw new Error(`${text} is not a variable`);
  return text;
}

function words(entry: Entry): readonly string[] {
  if (entry.words === null) throw new Error('a quote is not closed');
  return entry.words;
}
