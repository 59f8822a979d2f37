const frameStart = Buffer.from('data: {"type":"stdout","line":"');
const frameEnd = Buffer.from('"}\n\n');
const betweenLines = Buffer.concat([frameEnd, frameStart]);

/** Bytes that one input byte becomes at most: an empty line is a frame of its own. */
export const worstGrowth = betweenLines.length;

const plain = 0;
const lineEnd = 1;
const kinds = new Uint8Array(256);
const escapes: Buffer[] = [];
for (let byte = 0; byte < 256; byte += 1) {
  const text = JSON.stringify(String.fromCharCode(byte)).slice(1, -1);
  kinds[byte] = byte === 10 ? lineEnd : byte < 128 && text.length > 1 ? 2 : plain;
  escapes.push(Buffer.from(text));
}

/** Lines to frames, for input that is UTF-8. Four bytes at a time where none of the four needs a look. */
export class FrameEncoder {
  private inLine = false;

  /** Encodes `[from, to)` of `input` into `out` at `start`; returns where the output ends. */
  encode(input: DataView, from: number, to: number, out: DataView, start: number): number {
    let at = start;
    let index = from;
    while (index < to) {
      if (!this.inLine) at = put(frameStart, out, at);
      this.inLine = true;
      while (index + 4 <= to) {
        const word = input.getInt32(index, true);
        if (needsLook(word)) break;
        out.setInt32(at, word, true);
        at += 4;
        index += 4;
      }
      for (const stop = Math.min(index + 4, to); index < stop; index += 1) {
        const byte = input.getUint8(index);
        const kind = kinds[byte];
        if (kind === plain) {
          out.setUint8(at, byte);
          at += 1;
        } else if (kind === lineEnd && index + 1 === to) {
          at = put(frameEnd, out, at);
          this.inLine = false;
        } else {
          at = put(kind === lineEnd ? betweenLines : (escapes[byte] ?? betweenLines), out, at);
        }
      }
    }
    return at;
  }

  /** Closes a last line that had no line end. */
  end(out: DataView, start: number): number {
    return this.inLine ? put(frameEnd, out, start) : start;
  }
}

/** Whether any of the four bytes is below 0x20, a quote or a backslash: never a false no. */
function needsLook(word: number): boolean {
  const quote = word ^ 0x22222222;
  const backslash = word ^ 0x5c5c5c5c;
  const hits =
    ((word - 0x20202020) & ~word) | ((quote - 0x01010101) & ~quote) | ((backslash - 0x01010101) & ~backslash);
  return (hits & 0x80808080) !== 0;
}

function put(bytes: Buffer, out: DataView, start: number): number {
  for (let k = 0; k < bytes.length; k += 1) out.setUint8(start + k, bytes[k] ?? 0);
  return start + bytes.length;
}
