import type { Writable } from 'node:stream';
import type { StreamMasker } from '../masking/stream-masker.ts';
import { FrameLog } from './frame-log.ts';
import { FrameViewer } from './frame-viewer.ts';
import type { JobProcess } from './job-process.ts';
import { LineSplitter } from './line-splitter.ts';
import { OutputPipes } from './output-pipes.ts';
import type { SlabPool } from './slab-pool.ts';

const maxTailBytes = 8192;

/** Everything a job prints, from the pipes of its process to all who read along. */
export class JobOutput {
  readonly #pool: SlabPool;
  readonly #newMasker: () => StreamMasker;
  readonly #maskers: StreamMasker[] = [];
  readonly #log: FrameLog;
  readonly #viewers = new Set<FrameViewer>();
  readonly #begun = Promise.withResolvers<void>();
  #pipes: OutputPipes | undefined;
  #keepTail = false;
  #tail = '';
  #ended = false;

  /** `newMasker`: for one stream of bytes; it masks secrets. */
  constructor(pool: SlabPool, newMasker: () => StreamMasker) {
    this.#pool = pool;
    this.#newMasker = newMasker;
    this.#log = new FrameLog(pool);
  }

  /** Resolves when the first output was handed on. */
  get begun(): Promise<void> {
    return this.#begun.promise;
  }

  get viewerCount(): number {
    return this.#viewers.size;
  }

  /** Memory that the frames kept for late readers take. */
  get heldBytes(): number {
    return this.#log.heldBytes;
  }

  /** How many times `***` stands for a secret in what was printed. */
  get maskedCount(): number {
    return this.#maskers.reduce((sum, { count }) => sum + count, 0);
  }

  /** The last few KiB of the process's output, where `follow` was told to keep them. */
  get tail(): string {
    return this.#tail;
  }

  /** Reads the output of a process from now on. */
  follow(
    process: Pick<JobProcess, 'stdout' | 'stderr'>,
    options: { readonly keepTail: boolean },
  ): OutputPipes {
    this.#keepTail = options.keepTail;
    this.#tail = '';
    const pipes = [
      { readable: process.stdout, splitter: new LineSplitter(this.#log, 'stdout') },
      { readable: process.stderr, splitter: new LineSplitter(this.#log, 'stderr') },
    ].flatMap(({ readable, splitter }) => {
      const masker = this.#newMasker();
      this.#maskers.push(masker);
      return readable === null ? [] : [{ readable, masker, splitter }];
    });
    this.#pipes = new OutputPipes(pipes, (chunk) => this.#publish(chunk));
    return this.#pipes;
  }

  /** A line of the daemon's own, shown among the command's. */
  note(line: string): void {
    this.#log.appendObject({ type: 'stderr', line });
    this.#pumpAll();
  }

  attach(
    sink: Writable,
    { lastId, lossy }: { readonly lastId: number; readonly lossy: boolean },
  ): FrameViewer {
    const { ended, log, pool } = { ended: this.#ended, log: this.#log, pool: this.#pool };
    const viewer = new FrameViewer({ log, pool, sink, lastId, lossy, onFlow: () => this.#regulate() });
    this.#viewers.add(viewer);
    if (ended) viewer.end();
    else viewer.pump();
    return viewer;
  }

  /** Ends the log and all streams with `exitFrame`. */
  end(exitFrame: object): void {
    this.#ended = true;
    this.#log.appendObject(exitFrame);
    for (const viewer of this.#viewers) viewer.end();
    this.#log.trim(this.#neededFrom());
    this.#log.compact();
  }

  /** Forgets the frames that are kept for late readers. */
  clear(): void {
    this.#log.clear();
  }

  pingViewers(): void {
    for (const viewer of this.#viewers) viewer.ping();
  }

  #publish(chunk: Buffer): void {
    if (this.#keepTail)
      this.#tail = (this.#tail + chunk.subarray(-maxTailBytes).toString('latin1')).slice(-maxTailBytes);
    this.#pumpAll();
    this.#begun.resolve();
  }

  #pumpAll(): void {
    for (const viewer of this.#viewers) viewer.pump();
    this.#log.trim(this.#neededFrom());
  }

  #neededFrom(): number {
    let needed = this.#log.end;
    for (const viewer of this.#viewers) needed = Math.min(needed, viewer.needs ?? needed);
    return needed;
  }

  /** A client that can't keep up holds the command's pipes back; nothing piles up in the daemon. */
  #regulate(): void {
    let hold = false;
    for (const viewer of this.#viewers) {
      if (viewer.closed) this.#viewers.delete(viewer);
      else if (viewer.holdsBack) hold = true;
    }
    this.#pipes?.hold(hold);
  }
}
