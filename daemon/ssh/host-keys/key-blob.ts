import { createHash } from 'node:crypto';

/** `SHA256:` and base64 without padding, as `ssh-keygen -lf` prints it; of a key as it goes over the wire. */
export function fingerprintOf(key: Uint8Array): string {
  return `SHA256:${createHash('sha256').update(key).digest('base64').replace(/=+$/, '')}`;
}

/** The type that stands in the key itself: `ssh-ed25519`. Empty where there is none. */
export function keyTypeOf(key: Buffer): string {
  return new KeyReader(key).text() ?? '';
}

/** Reads the fields of RFC 4251, section 5, from the front; undefined where the rest is too short. */
export class KeyReader {
  readonly #bytes: Buffer;
  #position = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get position(): number {
    return this.#position;
  }

  get atEnd(): boolean {
    return this.#position === this.#bytes.length;
  }

  number(): number | undefined {
    if (this.#bytes.length - this.#position < 4) return undefined;
    this.#position += 4;
    return this.#bytes.readUInt32BE(this.#position - 4);
  }

  bigNumber(): bigint | undefined {
    if (this.#bytes.length - this.#position < 8) return undefined;
    this.#position += 8;
    return this.#bytes.readBigUInt64BE(this.#position - 8);
  }

  /** A view of the bytes, not a copy. */
  string(): Buffer | undefined {
    const start = this.#position;
    const length = this.number();
    if (length === undefined || this.#bytes.length - this.#position < length) {
      this.#position = start;
      return undefined;
    }
    this.#position += length;
    return this.#bytes.subarray(this.#position - length, this.#position);
  }

  text(): string | undefined {
    return this.string()?.toString('latin1');
  }
}

/** One `string` field. */
export function keyString(content: Uint8Array | string): Buffer {
  const bytes = Buffer.from(content);
  const field = Buffer.alloc(4 + bytes.length);
  field.writeUInt32BE(bytes.length);
  field.set(bytes, 4);
  return field;
}
