/** A block of encoded frames. `base` is the position of its first byte in the whole stream of its log. */
export interface Slab {
  readonly bytes: Buffer;
  readonly base: number;
  /** Id of the first frame in it. */
  readonly firstId: number;
  /** Bytes in use, always at the end of a frame when others look at it. */
  used: number;
  /** Writes to sockets that still refer to these bytes. */
  inFlight: number;
  /** The log has let go of it. */
  retired: boolean;
}

export const slabBytes = 1024 * 1024;

/** Keeps a few blocks for reuse, so that a flood of output makes no garbage that waits for the collector. */
export class SlabPool {
  readonly #free: Buffer[] = [];
  readonly #maxFree: number;

  constructor(maxFree = 4) {
    this.#maxFree = maxFree;
  }

  take(base: number, firstId: number, minBytes: number): Slab {
    const bytes =
      minBytes <= slabBytes
        ? (this.#free.pop() ?? Buffer.allocUnsafeSlow(slabBytes))
        : Buffer.allocUnsafeSlow(minBytes);
    return { bytes, base, firstId, used: 0, inFlight: 0, retired: false };
  }

  /** The log no longer needs the slab; its memory is reused once no socket refers to it. */
  retire(slab: Slab): void {
    slab.retired = true;
    this.#reclaim(slab);
  }

  /** A write that referred to the slab has been flushed. */
  release(slab: Slab): void {
    slab.inFlight -= 1;
    this.#reclaim(slab);
  }

  #reclaim(slab: Slab): void {
    if (!slab.retired || slab.inFlight > 0 || slab.bytes.length !== slabBytes) return;
    if (this.#free.length < this.#maxFree) this.#free.push(slab.bytes);
  }
}
