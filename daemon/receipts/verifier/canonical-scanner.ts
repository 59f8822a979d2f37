import { isUtf8 } from 'node:buffer';

const quote = 0x22;
const comma = 0x2c;
const colon = 0x3a;
const backslash = 0x5c;
const lineFeed = 0x0a;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;

/** Arrays and objects inside each other; nothing the daemon writes comes near it. */
export const maxDepth = 64;

/** 1: an ordinary byte of a string; 0: one that ends it, escapes, or may not stand there. */
const ordinary = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte < 0x20 || byte === quote || byte === backslash ? 0 : 1,
);
/** Bytes that may follow a backslash where the canonical form writes two characters: " \ b f n r t. */
const shortEscapes = new Set([...'"\\bfnrt'].map((letter) => letter.charCodeAt(0)));
/** Last two digits of \u00xx: the controls that have no short escape. */
const longEscapes = new Set(
  Array.from({ length: 32 }, (_, code) => code.toString(16).padStart(2, '0')).filter(
    (digits) => !['08', '09', '0a', '0c', '0d'].includes(digits),
  ),
);

/**
 * Judges bytes as they stand: whether they are the canonical form (RFC 8785) of one object and an LF, and nothing else.
 * Parsing first would forgive white space, doubled members, escapes and number forms. One scanner is used again and
 * again: it holds where the members of the object it scanned last are.
 */
export class CanonicalScanner {
  #bytes: Buffer = Buffer.alloc(0);
  #length = 0;
  readonly #keys: number[] = [];
  readonly #values: number[] = [];
  #members = 0;

  /** Looks at the first `length` bytes. */
  scan(bytes: Buffer, length: number): boolean {
    this.#bytes = bytes;
    this.#length = length;
    this.#members = 0;
    if (length < 3 || bytes[0] !== openBrace || bytes[length - 1] !== lineFeed) return false;
    if (!isUtf8(bytes.subarray(0, length))) return false;
    return this.#object(0, 1) === length - 1;
  }

  /** Members of the object scanned last. */
  get memberCount(): number {
    return this.#members;
  }

  /** The name of member `at` as it is written, without its quotes. */
  name(at: number): string {
    const start = this.#keys[2 * at] ?? 0;
    return this.#bytes.toString('latin1', start + 1, (this.#keys[2 * at + 1] ?? 0) - 1);
  }

  /** Whether member `at` has this name, an ASCII one. */
  isNamed(at: number, name: string): boolean {
    const start = (this.#keys[2 * at] ?? 0) + 1;
    if ((this.#keys[2 * at + 1] ?? 0) - 1 - start !== name.length) return false;
    for (let index = 0; index < name.length; index += 1)
      if (this.#bytes[start + index] !== name.charCodeAt(index)) return false;
    return true;
  }

  keyStart(at: number): number {
    return this.#keys[2 * at] ?? 0;
  }

  valueStart(at: number): number {
    return this.#values[2 * at] ?? 0;
  }

  valueEnd(at: number): number {
    return this.#values[2 * at + 1] ?? 0;
  }

  /** Each step answers where what begins at `at` ends, and -1 where it is not canonical. */
  #value(at: number, depth: number): number {
    const first = this.#bytes[at];
    switch (first) {
      case quote:
        return this.#string(at);
      case openBrace:
        return depth >= maxDepth ? -1 : this.#object(at, depth + 1);
      case openBracket:
        return depth >= maxDepth ? -1 : this.#array(at, depth + 1);
      case 0x74:
        return this.#literal(at, 'true');
      case 0x66:
        return this.#literal(at, 'false');
      case 0x6e:
        return this.#literal(at, 'null');
      default:
        return this.#number(at);
    }
  }

  #object(start: number, depth: number): number {
    const bytes = this.#bytes;
    if (bytes[start + 1] === closeBrace) return start + 2;
    let before = -1;
    let beforeEnd = -1;
    for (let at = start + 1; ; ) {
      const keyEnd = bytes[at] === quote ? this.#string(at) : -1;
      if (keyEnd < 0 || bytes[keyEnd] !== colon) return -1;
      if (before >= 0 && !this.#isBefore(before, beforeEnd, at, keyEnd)) return -1;
      const valueEnd = this.#value(keyEnd + 1, depth);
      if (valueEnd < 0) return -1;
      if (depth === 1) this.#note(at, keyEnd, valueEnd);
      if (bytes[valueEnd] === closeBrace) return valueEnd + 1;
      if (bytes[valueEnd] !== comma) return -1;
      before = at;
      beforeEnd = keyEnd;
      at = valueEnd + 1;
    }
  }

  #note(keyStart: number, keyEnd: number, valueEnd: number): void {
    const at = 2 * this.#members;
    this.#keys[at] = keyStart;
    this.#keys[at + 1] = keyEnd;
    this.#values[at] = keyEnd + 1;
    this.#values[at + 1] = valueEnd;
    this.#members += 1;
  }

  #array(start: number, depth: number): number {
    const bytes = this.#bytes;
    if (bytes[start + 1] === closeBracket) return start + 2;
    for (let at = start + 1; ; ) {
      const end = this.#value(at, depth);
      if (end < 0) return -1;
      if (bytes[end] === closeBracket) return end + 1;
      if (bytes[end] !== comma) return -1;
      at = end + 1;
    }
  }

  #string(start: number): number {
    const bytes = this.#bytes;
    const length = this.#length;
    for (let at = start + 1; at < length; ) {
      const byte = bytes[at] ?? 0;
      if (ordinary[byte] === 1) {
        at += 1;
        continue;
      }
      if (byte === quote) return at + 1;
      if (byte !== backslash) return -1;
      const next = bytes[at + 1] ?? 0;
      if (shortEscapes.has(next)) at += 2;
      else if (next === 0x75 && this.#isLongEscape(at + 2)) at += 6;
      else return -1;
    }
    return -1;
  }

  #isLongEscape(at: number): boolean {
    return (
      this.#bytes[at] === 0x30 &&
      this.#bytes[at + 1] === 0x30 &&
      longEscapes.has(this.#bytes.toString('latin1', at + 2, at + 4))
    );
  }

  #literal(at: number, text: string): number {
    return this.#bytes.toString('latin1', at, at + text.length) === text ? at + text.length : -1;
  }

  #number(start: number): number {
    let end = start;
    let digitsOnly = true;
    for (; end < this.#length; end += 1) {
      const byte = this.#bytes[end] ?? 0;
      if (byte >= 0x30 && byte <= 0x39) continue;
      // + - . E e
      if (byte !== 0x2b && byte !== 0x2d && byte !== 0x2e && byte !== 0x45 && byte !== 0x65) break;
      digitsOnly = false;
    }
    if (end === start) return -1;
    if (digitsOnly && end - start <= 15) return this.#bytes[start] !== 0x30 || end - start === 1 ? end : -1;
    const text = this.#bytes.toString('latin1', start, end);
    // What ECMAScript writes is JSON, so text that comes back the same is; "-0" comes back as "0".
    return String(Number(text)) === text ? end : -1;
  }

  /** Whether one key sorts before the other by UTF-16 units: by bytes where both are plain ASCII. */
  #isBefore(start: number, end: number, nextStart: number, nextEnd: number): boolean {
    const bytes = this.#bytes;
    const shared = Math.min(end - start, nextEnd - nextStart);
    for (let index = 1; index < shared; index += 1) {
      const byte = bytes[start + index] ?? 0;
      const nextByte = bytes[nextStart + index] ?? 0;
      if (byte >= 0x80 || nextByte >= 0x80 || byte === backslash || nextByte === backslash)
        return this.#text(start, end) < this.#text(nextStart, nextEnd);
      if (byte !== nextByte) {
        // A closing quote: the shorter key is the start of the other.
        if (byte === quote) return true;
        return nextByte !== quote && byte < nextByte;
      }
    }
    return false;
  }

  #text(start: number, end: number): string {
    return JSON.parse(this.#bytes.toString('utf8', start, end));
  }
}
