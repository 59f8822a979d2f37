import { mkdirSync, readdirSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { Actor, Receipt } from '../contract/receipts.ts';
import { type LogRecord, RecordLog, readRecordLog, voidStoredRecord } from '../lib/record-log.ts';
import type { SnapshotRecord } from '../snapshots/entry-state.ts';
import type { Step } from './mutation-plan.ts';
import { packSteps, type StoredSteps, unpackSteps } from './stored-steps.ts';

/** A command that is about to run: what it will change is not known before it has ended. */
export interface CommandIntent {
  readonly run_id: string;
  readonly actor: Actor;
  readonly cmd: string;
  readonly host?: string;
  readonly started_at: string;
}

/** A change with its receipt: enough to make the change, or to take it back. */
export interface JournaledMutation {
  readonly receipt: Receipt;
  readonly snapshot: SnapshotRecord;
  readonly steps: readonly Step[];
}

export type JournalEntry =
  | { readonly type: 'intent'; readonly intent: CommandIntent }
  /** The command of an intent has ended and changed nothing. */
  | { readonly type: 'dropped'; readonly runId: string }
  | ({ readonly type: 'mutation' } & JournaledMutation);

/** An entry that an earlier daemon left, and where. */
export type LeftEntry = JournalEntry & { readonly segment: string; readonly offset: number };

type StoredEntry =
  | Exclude<JournalEntry, { type: 'mutation' }>
  | { type: 'mutation'; receipt: Receipt; snapshot: SnapshotRecord; steps: StoredSteps };

/**
 * The durable truth of a workspace's mutations, until all that follows from them (receipt files, index, checkpoint, the
 * objects of snapshots, the changed files themselves) is on disk too. It is written in segments; a segment is removed
 * when everything in it is. Intents that are still open move on to the next one.
 */
export class Journal {
  readonly #folder: string;
  #number: number;
  #log: RecordLog | undefined;
  readonly #open = new Map<string, CommandIntent>();

  private constructor(folder: string, number: number) {
    this.#folder = folder;
    this.#number = number;
  }

  /** Answers the journal, and what an earlier daemon left in it, oldest first. */
  static open(folder: string): { journal: Journal; left: LeftEntry[]; segments: string[] } {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const names = readdirSync(folder).filter((name) => /^\d{8}\.log$/.test(name));
    const segments = names.sort().map((name) => join(folder, name));
    const left = segments.flatMap((segment) =>
      readRecordLog(segment).records.map((record) => ({
        ...unpackEntry(record),
        segment,
        offset: record.offset,
      })),
    );
    const last = Number(names.at(-1)?.slice(0, 8) ?? '0');
    return { journal: new Journal(folder, last), left, segments };
  }

  /** Bytes in the current segment. */
  get bytes(): number {
    return this.#log?.bytes ?? 0;
  }

  /** Appends entries, all or none, without syncing. @throws StorageFullError, StorageFailedError */
  append(entries: readonly JournalEntry[]): number[] {
    this.#log ??= this.#newSegment();
    const offsets = this.#log.append(entries.map(packEntry));
    for (const entry of entries) {
      if (entry.type === 'intent') this.#open.set(entry.intent.run_id, entry.intent);
      else this.#open.delete(entry.type === 'dropped' ? entry.runId : entry.receipt.run_id);
    }
    return offsets;
  }

  /** Resolves once all that was appended survives power loss. A failure is fatal. */
  async sync(): Promise<void> {
    await this.#log?.sync();
  }

  /** Makes the entry at an offset of the current segment count as never written, durably. */
  voidEntry(offset: number): void {
    this.#log?.voidRecord(offset);
  }

  /** An intent whose receipt was voided is open again. */
  reopen(intent: CommandIntent): void {
    this.#open.set(intent.run_id, intent);
  }

  /** Ends the current segment and answers its path; undefined where there is none. */
  rotate(): string | undefined {
    const ended = this.#log;
    if (ended === undefined) return undefined;
    const next = this.#newSegment();
    const carried = [...this.#open.values()].map((intent) => ({ type: 'intent', intent }) as const);
    try {
      next.append(carried.map(packEntry));
    } catch (error) {
      // No room: the current segment goes on. On a disk that stays full this is tried again and again.
      next.close();
      unlinkSync(next.path);
      throw error;
    }
    this.#log = next;
    ended.close();
    return ended.path;
  }

  /** Removes a segment, once nothing in it is needed any more. */
  retire(segment: string): void {
    unlinkSync(segment);
  }

  /** Closes the journal; with nothing open, its last segment goes too. */
  close(options: { readonly done: boolean }): void {
    this.#log?.close();
    if (options.done && this.#open.size === 0 && this.#log !== undefined) this.retire(this.#log.path);
    this.#log = undefined;
  }

  #newSegment(): RecordLog {
    this.#number += 1;
    return new RecordLog(join(this.#folder, `${String(this.#number).padStart(8, '0')}.log`));
  }
}

/** Marks an entry that an earlier daemon left as never written, durably. */
export function voidLeftEntry({ segment, offset }: LeftEntry): void {
  voidStoredRecord(segment, offset);
}

function packEntry(entry: JournalEntry): LogRecord {
  if (entry.type !== 'mutation') return { header: entry, blobs: [] };
  const { stored, blobs } = packSteps(entry.steps);
  const header: StoredEntry = {
    type: 'mutation',
    receipt: entry.receipt,
    snapshot: entry.snapshot,
    steps: stored,
  };
  return { header, blobs };
}

/** The checksum says that these are the bytes this program wrote, so their shape is known. */
function unpackEntry({ header, blobs }: LogRecord): JournalEntry {
  const entry = header as StoredEntry;
  return entry.type === 'mutation' ? { ...entry, steps: unpackSteps(entry.steps, blobs) } : entry;
}
