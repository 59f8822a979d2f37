import { join } from 'node:path';
import type { AuditPage, AuditRecord } from '../contract/audit-log.ts';
import { AuditEntry } from '../contract/audit-log.ts';
import { type Clock, systemClock, timestamp } from '../lib/clock.ts';
import { StorageClosedError, StorageFailedError } from '../lib/durable-errors.ts';
import { lineOf, parseEntry, seqOf } from './entry-line.ts';
import { mendEnd } from './mend-end.ts';
import { endOfLinesBelow, linesBackward } from './read-lines.ts';
import { AuditFile, type OpenAuditHandle } from './store.ts';

export interface AuditLogOptions {
  /** The log is `audit.jsonl` in it. The caller holds its lock. */
  readonly dataDir: string;
  readonly clock?: Clock;
  /** Told of what a crash cut short and of lines that are no entries, in sentences for the user. */
  readonly onNotice: (message: string) => void;
  /** Told once, when an fsync or the device failed: the daemon must stop taking changes and restart. */
  readonly onFatal: (error: StorageFailedError) => void;
  readonly openHandle?: OpenAuditHandle;
}

export interface AuditPageRequest {
  /** Only entries with a lower `seq`. */
  readonly before?: number | undefined;
  readonly limit: number;
}

/** Who did what with secrets and keys: one line of canonical JSON an entry, never changed and never taken away. */
export class AuditLog implements AsyncDisposable {
  readonly #file: AuditFile;
  readonly #options: AuditLogOptions;
  readonly #reported = new Set<number>();
  #nextSeq: number;
  #queue: Queued[] = [];
  /** The loop that writes batches, while there are any: the one place that writes the file. */
  #writing: Promise<void> | undefined;
  /** Why no further entry is taken. */
  #refusal: Error | undefined;
  #closing: Promise<void> | undefined;

  /**
   * Opens the log or makes it. An entry that a crash cut short is cut off and reported.
   *
   * @throws StorageFullError, StorageFailedError
   */
  static async open(options: AuditLogOptions): Promise<AuditLog> {
    const file = await AuditFile.open(join(options.dataDir, 'audit.jsonl'), options.openHandle);
    try {
      await mendEnd(file, options.onNotice);
      const log = new AuditLog(file, options);
      log.#nextSeq = await log.#findNextSeq();
      return log;
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  private constructor(file: AuditFile, options: AuditLogOptions) {
    this.#file = file;
    this.#options = options;
    this.#nextSeq = 1;
  }

  /**
   * Resolves with the entry once it survives power loss. Calls made while a write is under way share the next one.
   * Rejects with StorageFullError or StorageFailedError, and then nothing of the entry is left; after a fatal failure
   * every later call is rejected, too.
   */
  async append(record: AuditRecord): Promise<AuditEntry> {
    if (this.#refusal) throw this.#refusal;
    // What would not be read again must not be written; members that are no part of an entry are left out.
    const time = timestamp((this.#options.clock ?? systemClock)());
    const entry = AuditEntry.parse({ ...record, seq: 1, timestamp: time });
    return new Promise((resolve, reject) => {
      this.#queue.push({ entry, resolve, reject });
      this.#writing ??= this.#writeQueued();
    });
  }

  /** Newest first. Lines that are no entries are passed over and reported. */
  async page({ before, limit }: AuditPageRequest): Promise<AuditPage> {
    if (this.#closing) throw new StorageClosedError();
    const entries: AuditEntry[] = [];
    const end = before === undefined ? this.#file.bytes : await endOfLinesBelow(this.#file, before, seqOf);
    for await (const line of linesBackward(this.#file, end)) {
      const entry = parseEntry(line.text);
      if (entry === undefined) this.#report(line.start);
      else if (before !== undefined && entry.seq >= before) continue;
      else if (entries.length < limit) entries.push(entry);
      else return { entries, next_before: entries.at(-1)?.seq ?? null };
    }
    return { entries, next_before: null };
  }

  /** Takes no more entries and finishes those under way. */
  [Symbol.asyncDispose](): Promise<void> {
    this.#refusal ??= new StorageClosedError();
    this.#closing ??= (async () => {
      await this.#writing;
      await this.#file.close();
    })();
    return this.#closing;
  }

  async #writeQueued(): Promise<void> {
    // Calls made in the same turn of the event loop share the first write.
    await Promise.resolve();
    while (this.#queue.length > 0) {
      const batch = this.#queue;
      this.#queue = [];
      try {
        await this.#write(batch);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    // In the same turn as the last look at the queue: a call between the two would wait for ever.
    this.#writing = undefined;
  }

  async #write(batch: readonly Queued[]): Promise<void> {
    if (this.#refusal instanceof StorageFailedError) throw this.#refusal;
    const numbered = batch.map(({ entry, resolve }, at) => ({
      entry: { ...entry, seq: this.#nextSeq + at },
      resolve,
    }));
    try {
      await this.#file.append(Buffer.from(numbered.map(({ entry }) => lineOf(entry)).join('')));
    } catch (error) {
      this.#failed(error);
      throw error;
    }
    this.#nextSeq += numbered.length;
    for (const { entry, resolve } of numbered) resolve(entry);
  }

  #failed(error: unknown): void {
    if (!(error instanceof StorageFailedError) || !error.fatal) return;
    this.#refusal = error;
    this.#options.onFatal(error);
  }

  /** A line that can't be read had a number, too. */
  async #findNextSeq(): Promise<number> {
    let unreadable = 0;
    for await (const line of linesBackward(this.#file, this.#file.bytes)) {
      const entry = parseEntry(line.text);
      if (entry !== undefined) return entry.seq + unreadable + 1;
      this.#report(line.start);
      unreadable += 1;
    }
    return unreadable + 1;
  }

  #report(start: number): void {
    if (this.#reported.has(start)) return;
    this.#reported.add(start);
    this.#options.onNotice(
      `The line of audit.jsonl that begins at byte ${start} is not an entry. It was left there.`,
    );
  }
}

interface Queued {
  /** Its `seq` is given when it is written: one that fails takes none. */
  readonly entry: AuditEntry;
  readonly resolve: (entry: AuditEntry) => void;
  readonly reject: (reason: unknown) => void;
}
