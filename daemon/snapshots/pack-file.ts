import { closeSync, fstatSync, openSync, readFileSync, readSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Digest } from './blob.ts';

const idsAt = 8 + 1024;

/** A pack that is read by its index, which is held in memory (28 bytes an entry). */
export class PackFile {
  readonly name: string;
  readonly count: number;
  readonly bytes: number;
  readonly #path: string;
  readonly #index: Buffer;
  readonly #file: number;
  #offsets: Uint32Array | undefined;

  /** Throws where the two files are not a pack and its index. */
  constructor(folder: string, name: string) {
    this.name = name;
    this.#path = join(folder, name);
    this.#index = readFileSync(`${this.#path}.idx`);
    if (this.#index.toString('latin1', 0, 8) !== '\xfftOc\0\0\0\x02')
      throw new Error('no index of version 2');
    this.count = this.#index.readUInt32BE(idsAt - 4);
    if (this.#index.length !== idsAt + this.count * 28 + 40) throw new Error('the index has another length');
    this.#file = openSync(`${this.#path}.pack`, 'r');
    this.bytes = fstatSync(this.#file).size;
  }

  has(id: Digest): boolean {
    return this.#find(id) !== -1;
  }

  /** The entry as it is stored; null where there is none of that id. */
  read(id: Digest): Buffer | null {
    const at = this.#find(id);
    if (at === -1) return null;
    const { offset, length } = this.#extent(at);
    const entry = Buffer.allocUnsafe(length);
    if (readSync(this.#file, entry, 0, length, offset) !== length)
      throw new Error(`${this.name} is cut short`);
    return entry;
  }

  /** Bytes that the entry takes; 0 where there is none of that id. */
  sizeOf(id: Digest): number {
    const at = this.#find(id);
    return at === -1 ? 0 : this.#extent(at).length;
  }

  *ids(): Generator<Digest> {
    for (let at = 0; at < this.count; at += 1) yield this.#idAt(at);
  }

  close(): void {
    closeSync(this.#file);
  }

  /** Without its index a pack is none: that goes first. */
  remove(): void {
    this.close();
    rmSync(`${this.#path}.idx`, { force: true });
    rmSync(`${this.#path}.pack`, { force: true });
  }

  #find(id: Digest): number {
    const first = id.charCodeAt(0);
    let low = first === 0 ? 0 : this.#index.readUInt32BE(8 + (first - 1) * 4);
    let high = this.#index.readUInt32BE(8 + first * 4);
    while (low < high) {
      const middle = (low + high) >>> 1;
      const found = this.#idAt(middle);
      if (found === id) return middle;
      if (found < id) low = middle + 1;
      else high = middle;
    }
    return -1;
  }

  #idAt(at: number): Digest {
    return this.#index.toString('latin1', idsAt + at * 20, idsAt + at * 20 + 20);
  }

  /** An entry ends where the next in the file begins. */
  #extent(at: number): { offset: number; length: number } {
    this.#offsets ??= this.#sortedOffsets();
    const offset = this.#offsetAt(at);
    let low = 0;
    let high = this.#offsets.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#offsets[middle] ?? 0) <= offset) low = middle + 1;
      else high = middle;
    }
    return { offset, length: (this.#offsets[low] ?? this.bytes - 20) - offset };
  }

  #offsetAt(at: number): number {
    return this.#index.readUInt32BE(idsAt + this.count * 24 + at * 4);
  }

  #sortedOffsets(): Uint32Array {
    return Uint32Array.from({ length: this.count }, (_, at) => this.#offsetAt(at)).sort();
  }
}
