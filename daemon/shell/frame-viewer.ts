import type { Writable } from 'node:stream';
import type { FrameLog } from './frame-log.ts';
import type { SlabPool } from './slab-pool.ts';

export interface ViewerOptions {
  readonly log: FrameLog;
  readonly pool: SlabPool;
  readonly sink: Writable;
  /** Id of the last frame the client has; 0 for none. */
  readonly lastId: number;
  /** A viewer that is too slow loses frames, and is told so, instead of slowing the command. */
  readonly lossy: boolean;
  /** Called when it blocks and when it can go on. */
  readonly onFlow: () => void;
}

/**
 * One client of a job's stream: a position in its log, moved on as fast as the client reads. Live output, a late
 * attachment and a slow client are all the same here; only how far behind the position is differs.
 */
export class FrameViewer {
  readonly #options: ViewerOptions;
  #position: number;
  /** Id of the frame at `#position`. */
  #nextId: number;
  #blocked = false;
  #closed = false;
  #ended = false;

  constructor(options: ViewerOptions) {
    this.#options = options;
    const { log, sink, lastId } = options;
    const position = log.positionOf(lastId + 1);
    this.#position = position ?? log.start;
    this.#nextId = position === undefined ? log.firstId : lastId + 1;
    sink.once('close', () => this.#close());
    // A client that went away is no fault of ours; 'close' follows.
    sink.on('error', () => undefined);
    if (lastId + 1 < this.#nextId) this.#writeGap(lastId + 1, this.#nextId - 1);
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Position from which it still needs the log; undefined when it does without. */
  get needs(): number | undefined {
    return this.#closed || this.#options.lossy ? undefined : this.#position;
  }

  /** Whether the command must wait for it. */
  get holdsBack(): boolean {
    return this.#blocked && !this.#closed && !this.#options.lossy;
  }

  /** Writes all there is, as far as the client takes it. A `write` that returned false is always waited for. */
  pump(): void {
    if (this.#blocked || this.#closed) return;
    const { log } = this.#options;
    if (this.#position < log.start) this.#skipToStart();
    while (!this.#blocked && !this.#closed) {
      const piece = log.read(this.#position);
      if (piece === undefined) break;
      this.#position = piece.end;
      this.#nextId = piece.nextId;
      piece.slab.inFlight += 1;
      this.#write(piece.bytes, () => this.#options.pool.release(piece.slab));
    }
    if (this.#ended && !this.#blocked && !this.#closed) this.#options.sink.end();
  }

  /** The log is complete: the stream ends once everything is written. */
  end(): void {
    this.#ended = true;
    this.pump();
  }

  /** Ends the stream now with a last frame that stands outside the log. */
  cut(frame: object): void {
    if (this.#closed) return;
    this.#options.sink.end(`data: ${JSON.stringify(frame)}\n\n`);
    this.#close();
  }

  /** Gives the connection up, whatever is still unwritten. */
  destroy(): void {
    this.#options.sink.destroy();
    this.#close();
  }

  /** A comment that keeps proxies and idle timers from closing a quiet stream. */
  ping(): void {
    if (!this.#blocked && !this.#closed) this.#write(': ping\n\n');
  }

  /** Its place fell out of the log while it was slow. */
  #skipToStart(): void {
    const { log } = this.#options;
    this.#writeGap(this.#nextId, log.firstId - 1);
    this.#nextId = log.firstId;
    this.#position = log.start;
  }

  #writeGap(from: number, to: number): void {
    this.#write(`data: ${JSON.stringify({ type: 'gap', from, to })}\n\n`);
  }

  #write(bytes: string | Buffer, flushed?: () => void): void {
    if (this.#options.sink.write(bytes, flushed)) return;
    this.#blocked = true;
    this.#options.sink.once('drain', () => {
      this.#blocked = false;
      this.pump();
      this.#options.onFlow();
    });
    this.#options.onFlow();
  }

  #close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#options.onFlow();
  }
}
