/**
 * The canonical form of RFC 8785 (JCS): no white space, members sorted by the UTF-16 units of their names, numbers and
 * strings as ECMAScript writes them. Throws `TypeError` for what has no canonical form: `undefined` (in objects, too),
 * numbers that are not finite, strings with a lone surrogate, and anything but plain objects, arrays and primitives.
 */
export function canonicalJson(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return canonicalString(value);
    case 'number':
      if (!Number.isFinite(value)) throw new TypeError(`${value} has no canonical form`);
      // Writes -0 as 0, as the RFC asks.
      return String(value);
    case 'boolean':
      return value ? 'true' : 'false';
    case 'object':
      if (value === null) return 'null';
      return Array.isArray(value) ? canonicalArray(value) : canonicalObject(value);
    default:
      throw new TypeError(`${typeof value} has no canonical form`);
  }
}

/** What may stand in a string as it is; most strings do, and copying is faster than escaping. */
const plain = /^[ !#-[\]-~]*$/;

/** A string's canonical form: quoted, with the shortest escapes. Throws `TypeError` for a lone surrogate. */
function canonicalString(value: string): string {
  if (value.length < 64 && plain.test(value)) return `"${value}"`;
  if (!value.isWellFormed()) throw new TypeError('a lone surrogate has no canonical form');
  return JSON.stringify(value);
}

function canonicalArray(values: readonly unknown[]): string {
  let text = '[';
  // By position: a hole is `undefined`, which throws.
  for (let at = 0; at < values.length; at += 1) text += (at === 0 ? '' : ',') + canonicalJson(values[at]);
  return `${text}]`;
}

function canonicalObject(value: object): string {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null)
    throw new TypeError('only plain objects have a canonical form');
  let text = '{';
  for (const [name, member] of sortedMembers(value))
    text += `${(text.length === 1 ? '' : ',') + canonicalString(name)}:${canonicalJson(member)}`;
  return `${text}}`;
}

/** Names and values in canonical order. JavaScript compares strings by UTF-16 units, as the RFC does. */
export function sortedMembers(value: object): [string, unknown][] {
  return Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
}
