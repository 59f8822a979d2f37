/** Gets an event's `data` as a range of `bytes`, valid during the call only, and its `id` (0 where it has none). */
export type SseSink = (bytes: Uint8Array, start: number, end: number, id: number) => void;

/**
 * Cuts a server-sent event stream into events on bytes, without making strings: a million frames a second must
 * fit beside a moving view. Understands what the daemon sends (`id:` with a number, one `data:` line, comments);
 * several `data:` lines are joined by LF as the standard says.
 */
export class SseBytes {
  readonly #sink: SseSink;
  #rest = new Uint8Array(0);
  #id = 0;
  #data: Uint8Array | undefined;

  constructor(sink: SseSink) {
    this.#sink = sink;
  }

  /** Takes the next bytes as they came; an event is handed on with the blank line that ends it. */
  feed(chunk: Uint8Array): void {
    const bytes = this.#rest.length === 0 ? chunk : concat(this.#rest, chunk);
    let at = 0;
    let dataStart = -1;
    let dataEnd = -1;
    /** Where a chunk's end would cut an event, the event begins again here with the next chunk. */
    let eventStart = 0;
    for (;;) {
      const newline = bytes.indexOf(lf, at);
      if (newline === -1) break;
      const end = newline > at && bytes[newline - 1] === cr ? newline - 1 : newline;
      if (end === at) {
        if (this.#data !== undefined) this.#sink(this.#data, 0, this.#data.length, this.#id);
        else if (dataStart !== -1) this.#sink(bytes, dataStart, dataEnd, this.#id);
        this.#data = undefined;
        dataStart = -1;
        this.#id = 0;
        eventStart = newline + 1;
      } else if (bytes[at] === letterD && startsWith(bytes, at, end, dataField)) {
        const start = at + dataField.length + (bytes[at + dataField.length] === space ? 1 : 0);
        if (dataStart === -1) {
          dataStart = start;
          dataEnd = end;
        } else {
          const before = this.#data ?? bytes.slice(dataStart, dataEnd);
          this.#data = concat(concat(before, newlineBytes), bytes.subarray(start, end));
        }
      } else if (bytes[at] === letterI && startsWith(bytes, at, end, idField)) {
        this.#id = readNumber(bytes, at + idField.length, end);
      }
      at = newline + 1;
    }
    this.#data = undefined;
    this.#id = 0;
    this.#rest = bytes.slice(eventStart);
  }
}

const lf = 10;
const cr = 13;
const space = 32;
const letterD = 100;
const letterI = 105;
const newlineBytes = new Uint8Array([lf]);
const dataField = new TextEncoder().encode('data:');
const idField = new TextEncoder().encode('id:');

function concat(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(first.length + second.length);
  joined.set(first);
  joined.set(second, first.length);
  return joined;
}

function startsWith(bytes: Uint8Array, at: number, end: number, prefix: Uint8Array): boolean {
  if (end - at < prefix.length) return false;
  for (let i = 0; i < prefix.length; i++) if (bytes[at + i] !== prefix[i]) return false;
  return true;
}

function readNumber(bytes: Uint8Array, start: number, end: number): number {
  let value = 0;
  for (let at = start; at < end; at++) {
    const digit = (bytes[at] ?? 0) - 48;
    if (digit >= 0 && digit <= 9) value = value * 10 + digit;
  }
  return value;
}
