import type { Writable } from 'node:stream';
import type { ChainVerdict, VerifyFrame } from '../contract/receipts.ts';
import type { VerifyChainOptions } from './verify-chain.ts';

export type Verification = (options: Required<VerifyChainOptions>) => Promise<ChainVerdict>;

const progressEveryMs = 100;

/** The frames of one verification, for one client. It is given up where the client leaves or is cut off. */
export class VerificationStream {
  readonly #sink: Writable;
  readonly #left = new AbortController();
  #lastProgressMs = Number.NEGATIVE_INFINITY;

  constructor(sink: Writable) {
    this.#sink = sink;
    // A client that went away is no fault of ours; 'close' follows.
    sink.on('error', () => undefined);
    sink.once('close', () => this.#left.abort());
  }

  get closed(): boolean {
    return this.#left.signal.aborted;
  }

  /** Resolves once the verdict is written or nobody waits for it; rejects with what keeps the verification from one. */
  async run(verification: Verification): Promise<void> {
    try {
      const verdict = await verification({
        onProgress: (checked, total) => this.#progress(checked, total),
        signal: this.#left.signal,
      });
      if (!this.closed) this.#sink.end(textOf({ type: 'verdict', ...verdict }));
    } catch (error) {
      // Given up: what came of it then is nobody's concern.
      if (!this.closed) throw error;
    }
  }

  /** Ends the stream with another frame than the verdict. */
  cut(frame: object): void {
    if (this.closed) return;
    this.#sink.end(`data: ${JSON.stringify(frame)}\n\n`);
    this.#left.abort();
  }

  destroy(): void {
    this.#sink.destroy();
    this.#left.abort();
  }

  /** Of many, only as many as an eye can follow; none to a client that does not read. */
  #progress(checked: number, total: number): void {
    const nowMs = performance.now();
    if (this.closed || this.#sink.writableNeedDrain) return;
    if (nowMs - this.#lastProgressMs < progressEveryMs) return;
    this.#lastProgressMs = nowMs;
    this.#sink.write(textOf({ type: 'progress', checked, total }));
  }
}

const textOf = (frame: VerifyFrame) => `data: ${JSON.stringify(frame)}\n\n`;
