import type { Readable } from 'node:stream';
import type { StreamMasker } from '../masking/stream-masker.ts';
import type { LineSplitter } from './line-splitter.ts';

/** What a process may still write after it ended, per pipe: more than any pipe holds. */
const maxDrainBytes = 2 * 1024 * 1024;

export interface OutputPipe {
  readonly readable: Readable;
  readonly masker: Pick<StreamMasker, 'push' | 'end'>;
  readonly splitter: LineSplitter;
}

/** The output pipes of one process, read as fast as `hold` allows. */
export class OutputPipes {
  readonly #pipes: readonly OutputPipe[];
  readonly #allClosed: Promise<unknown>;
  readonly #onData: (chunk: Buffer) => void;
  #draining = false;

  /** `onData` is called after each chunk was cut into frames. */
  constructor(pipes: readonly OutputPipe[], onData: (chunk: Buffer) => void) {
    this.#pipes = pipes;
    this.#onData = onData;
    this.#allClosed = Promise.all(pipes.map((pipe) => this.#follow(pipe)));
  }

  /** Pauses or resumes the process's output. Without effect once it drains. */
  hold(paused: boolean): void {
    for (const { readable } of this.#pipes) {
      if (paused && !this.#draining) readable.pause();
      else if (readable.isPaused()) readable.resume();
    }
  }

  /** The process has ended: reads on whatever the clients do, for what is left is bounded, until all pipes are closed. */
  async drain(): Promise<void> {
    this.#draining = true;
    this.hold(false);
    await this.#allClosed;
  }

  /** Stops reading and completes unfinished lines. */
  close(): void {
    for (const { readable, masker, splitter } of this.#pipes) {
      readable.destroy();
      splitter.push(masker.end());
      splitter.end();
    }
  }

  #follow({ readable, masker, splitter }: OutputPipe): Promise<void> {
    let drained = 0;
    readable.on('data', (chunk: Buffer) => {
      if (this.#draining) drained += chunk.length;
      // The process has ended; what floods the pipe now is something it left behind.
      if (drained > maxDrainBytes) readable.destroy();
      else {
        splitter.push(masker.push(chunk));
        this.#onData(chunk);
      }
    });
    // The pipe of a process that was killed may break; what was read before that counts.
    readable.on('error', () => undefined);
    return new Promise((resolve) => readable.once('close', () => resolve()));
  }
}
